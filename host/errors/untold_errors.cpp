#include "host/errors/untold_errors.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "chime/abi/start_thread.h"
#include "host/errors/abort.hpp"
#include "host/errors/async_error.hpp"
#include "host/errors/log.hpp"
#include "net/fork.hpp"

namespace chime::host {

UntoldErrors::UntoldErrors(const Runtime& runtime)
    : runtime_(runtime),
      end_(net::opened_for_this_process([] { return eventfd(0, EFD_CLOEXEC); })) {
  if (!end_) throw system_error("errors", "eventfd");
  thread_ = abi::start_thread([this] { watch(); });
}

UntoldErrors::~UntoldErrors() {
  eventfd_write(end_.get(), 1);
  thread_.join();
}

void UntoldErrors::watch() {
  pollfd end{end_.get(), POLLIN, 0};
  for (;;) {
    const int n = poll(&end, 1, static_cast<int>(kBetweenLooks.count()));
    if (n > 0) return;
    if (n < 0 && errno != EINTR)
      return log(LogLevel::kError, runtime_.my_pe(),
                 "what fails in kernels is told by the next call alone from here on: poll: {}",
                 std::strerror(errno));
    look();
  }
}

// One and the same error, also if it is thrown and comes back, is said once. What the end of the
// job is the cause of was said with it.
void UntoldErrors::look() noexcept try {
  if (abort_cause(runtime_.device->control().abort)) return;
  const std::optional<AsyncError> error = find_recorded_error(runtime_);
  std::string now = error ? error->message : "";
  const bool was_there = now == std::exchange(seen_, now);
  if (now.empty() || !was_there || now == said_ || !take_saying(runtime_, *error)) return;
  log(LogLevel::kError, runtime_.my_pe(),
      "{} (said now, for no call has asked; what waits goes on waiting)", now);
  said_ = std::move(now);
} catch (...) {
  // No memory for the words: the next call tells it.
}

}  // namespace chime::host
