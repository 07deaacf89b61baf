#include "host/pe/end.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <utility>

#include "chime/abi/start_thread.h"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

// The job that this thread's PE failed to join.
thread_local std::unique_ptr<bootstrap::Bootstrap> job_not_joined;

// For the launcher to hear that this PE ends because another has.
constexpr std::chrono::seconds kGoodbyeTime{1};

// For a program's files to be flushed to a slow disk.
constexpr std::chrono::seconds kFlushTime{1};

// Writes out all that the program has printed. A thread that reads a file holds the file's lock as
// long as that takes, so the flush has a thread and a bound of its own.
void flush_files() noexcept try {
  const auto flushed = std::make_shared<std::promise<void>>();
  std::future<void> end = flushed->get_future();
  abi::start_thread([flushed] {
    std::fflush(nullptr);
    flushed->set_value();
  }).detach();
  end.wait_for(kFlushTime);
} catch (...) {
  std::fflush(nullptr);  // no thread can be started
}

// No destructors: other threads of this process may still be inside kernels or waits.
[[noreturn]] void end_process(int code) {
  flush_files();
  ::_exit(code);
}

// By the first thread of the PE: others that meet the same while the process ends have no reason of
// their own. `device`: null where it does not stand.
void abort_job(Runtime& runtime, const DeviceStage* device, int code, const std::string& why) {
  std::call_once(runtime.job_ended, [&] {
    const int me = runtime.my_pe();
    runtime.abort_reported.report(me,
                                  [] {});  // it was said: threads that meet the abort add nothing
    // The launcher first: it names the PE that it hears of first. An abort has a bound of its own.
    runtime.bootstrap->abort(code, why);
    if (device != nullptr)
      tell_local_peers(*device, {CHIMEX_ERR_ABORTED, me, Path::kNone,
                                 fmt::format("PE {} ended the job: {}", me, why), code});
  });
}

bool launcher_tells_of_a_loss(const bootstrap::Bootstrap& bootstrap) {
  for (int pe = 0; pe < bootstrap.size(); ++pe)
    if (!bootstrap.why_lost(pe).empty()) return true;
  return false;
}

// Where the launcher cannot be asked any more nobody hears it, and this PE ends all the same. The
// process ends with whatever still waits.
void say_goodbye_within(std::chrono::seconds time, bootstrap::PeerWatch& watch) try {
  const auto said = std::make_shared<std::promise<void>>();
  std::future<void> end = said->get_future();
  abi::start_thread([said, &watch] {
    try {
      watch.say_goodbye();
    } catch (const bootstrap::BootstrapError&) {
      // Then the other PEs will name this PE too.
    }
    said->set_value();
  }).detach();
  end.wait_for(time);
} catch (const std::exception&) {
  // No thread: likewise.
}

}  // namespace

void tell_local_peers(const DeviceStage& device, const AbortCause& cause) {
  for (int pe = 0; pe < device.peers.n_pes(); ++pe)
    if (ControlBlock* const control = device.peers.control(pe)) raise_abort(control->abort, cause);
}

void keep_failed_join(std::unique_ptr<bootstrap::Bootstrap> bootstrap) {
  job_not_joined = std::move(bootstrap);
}

void forget_failed_join() { job_not_joined.reset(); }

int exit_code_of(int status) {
  const int code = status & 0xff;
  return status != 0 && code == 0 ? 1 : code;
}

void end_job_of(Runtime& runtime, int status, const std::string& why) {
  const int code = exit_code_of(status);
  abort_job(runtime, runtime.device.get(), code, why);
  end_process(code);
}

void end_job_if_a_kernel_asks(Runtime& runtime) {
  if (const auto status = asked_exit(runtime.device->control().abort))
    end_job_of(runtime, *status,
               fmt::format("a kernel called {}({})", spoken("chime_global_exit"), *status));
}

void end_job(int status, const std::string& why) {
  const int code = exit_code_of(status);
  PeSlot* const slot = current_slot();
  if (slot && is_left_by_another(*slot)) end_process(code);  // the launcher sees it end
  if (slot) {
    abort_job(*slot->runtime, built_device(*slot), code, why);
  } else if (job_not_joined && !launcher_tells_of_a_loss(*job_not_joined)) {
    // The job cannot start without this PE: the others need not wait for their deadline. Where the
    // launcher has reported a lost PE, the others hear that too, and shall live to say it
    // themselves.
    job_not_joined->abort(code, why);
  }
  end_process(code);
}

void end_aborted_pe_of(Runtime& runtime) {
  int code = 1;
  if (const auto cause = abort_cause(runtime.device->control().abort)) code = cause->exit_code;
  // The others know the cause, and must not take this end for another one.
  say_goodbye_within(kGoodbyeTime, *runtime.watch);
  end_process(code);
}

void end_aborted_pe() {
  PeSlot* const slot = staying_slot();
  if (slot && built_device(*slot)) end_aborted_pe_of(*slot->runtime);
  end_process(1);
}

}  // namespace chime::host
