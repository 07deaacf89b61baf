#include "host/report/pending_errors.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "chime/abi/start_thread.h"
#include "host/errors/abort.hpp"
#include "host/errors/log.hpp"
#include "host/pe/end.hpp"
#include "host/report/async_error.hpp"
#include "net/socket/fork.hpp"

namespace chime::host {

PendingErrors::PendingErrors(const PeSlot& slot)
    : slot_(slot),
      runtime_(*slot.runtime),
      end_(net::opened_for_this_process([] { return eventfd(0, EFD_CLOEXEC); })) {
  if (!end_) throw system_error("errors", "eventfd");
  thread_ = abi::start_thread([this] { watch(); });
}

PendingErrors::~PendingErrors() {
  eventfd_write(end_.get(), 1);
  thread_.join();
}

void PendingErrors::watch() {
  pollfd end{end_.get(), POLLIN, 0};
  for (;;) {
    const int n = poll(&end, 1, static_cast<int>(kBetweenLooks.count()));
    if (n > 0) return;
    if (n < 0 && errno != EINTR)
      return log(LogLevel::kError, runtime_.my_pe(),
                 "what fails in kernels is reported by the next call alone from here on: poll: {}",
                 std::strerror(errno));
    look();
  }
}

// An error that a call throws and a kernel then meets again is said once. Errors that follow from
// the end of the job are not said: its cause was.
void PendingErrors::look() noexcept try {
  end_job_if_a_kernel_asks(runtime_);
  if (const auto cause = abort_cause(runtime_.device->control().abort)) {
    if (std::exchange(saw_abort_, true)) end_with_the_job(*cause);
    return;
  }
  const std::optional<AsyncError> error = find_recorded_error(runtime_);
  std::string now = error ? error->message : "";
  const bool was_there = now == std::exchange(seen_, now);
  if (now.empty() || !was_there || now == said_ || !take_saying(runtime_, *error)) return;
  try {
    report(*error);
  } catch (...) {
    give_back_saying(runtime_);
    throw;
  }
  said_ = std::move(now);
} catch (...) {
  // No memory for the words: the next look, or call, tells it.
}

void PendingErrors::report(const AsyncError& error) {
  const bool goes_on = slot_.on_error == OnError::kReturn || survives(slot_, error.status);
  // chime-run knows the sentence again that it is given as the reason, if nothing is added to it.
  log(LogLevel::kError, runtime_.my_pe(), "{}{}", error.message,
      goes_on ? " (reported now because no host call has asked; waits continue)" : "");
  if (goes_on) return;
  if (slot_.on_error == OnError::kExit) end_job_of(runtime_, 1, error.message);
  kill(getpid(), SIGTRAP);  // for a thread of the program: this one takes no signals
}

// Another PE has ended the job. A host thread in a call of Chime has had the time to see it.
void PendingErrors::end_with_the_job(const AbortCause& cause) {
  if (cause.status != CHIMEX_ERR_ABORTED || slot_.on_error != OnError::kExit) return;
  runtime_.abort_reported.report(
      cause.pe, [&] { log(LogLevel::kError, runtime_.my_pe(), "job: {}", cause.why); });
  end_aborted_pe_of(runtime_);
}

}  // namespace chime::host
