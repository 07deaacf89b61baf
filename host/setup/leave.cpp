#include "host/setup/leave.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "chime/abi/launch_status.h"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/sync.cuh"
#include "host/errors/error.hpp"
#include "host/errors/log.hpp"
#include "host/ops/gpu/by_kernel.hpp"
#include "host/pe/device_state_registry.hpp"
#include "host/pe/end.hpp"
#include "host/report/async_error.hpp"
#include "host/report/guard.hpp"
#include "host/settings/spelling.hpp"
#include "host/setup/finalize_once.hpp"
#include "host/setup/timeline/timeline.hpp"

namespace chime::host {
namespace {

// For waiting kernels to see that their job is aborted, on a busy machine.
constexpr std::chrono::seconds kAbortGrace{5};

// An error that kernels met and no call has reported yet: the last chance to report it.
void report_unseen_error(PeSlot& slot) {
  try {
    if (built_device(slot)) throw_recorded_error(*slot.runtime);
  } catch (...) {
    handle_current_exception("exit");
  }
}

// A process that ends without chime_finalize: its local peers must not wait for it. A child of
// fork() has no part in the job, and takes no lock: a thread that it does not have may hold it.
//
// The local peers end with its status, so that the job's is the same whichever PE is seen to end
// first; 0 is a failure here, too.
void tell_local_peers_at_exit(int status, void*) {
  if (!is_own_process()) return;
  exec::detail::tell_unseen_launch_errors();
  const int code = status == 0 ? 1 : exit_code_of(status);
  for_each_pe([code](PeSlot& slot) {
    report_unseen_error(slot);
    if (slot.on_peer_failure == OnPeerFailure::kReport)
      return;  // the local peers see the process end
    if (const DeviceStage* const device = built_device(slot))
      tell_local_peers(
          *device,
          {CHIMEX_ERR_PEER_DEAD, slot.pe, Path::kP2p,
           fmt::format("PE {} exited without {}", slot.pe, spoken("chime_finalize")), code});
  });
}

// A kernel of PE `pe` traps, which ends the process: nobody else could tell what it has recorded.
void tell_recorded_error(int pe) noexcept try {
  if (!is_own_process()) return;
  for_each_pe([pe](PeSlot& slot) {
    if (slot.pe != pe || !built_device(slot)) return;
    if (const auto error = find_recorded_error(*slot.runtime))
      log(LogLevel::kError, pe, "{}", error->message);
  });
} catch (...) {
  // The process ends with the trap's own words.
}

std::chrono::steady_clock::time_point wait_deadline(const Settings& settings) {
  const auto bound = settings.wait_timeout_ns ? std::chrono::nanoseconds(settings.wait_timeout_ns)
                                              : std::chrono::hours(24 * 365);
  return std::chrono::steady_clock::now() + bound;
}

// Waits for this PE's kernels. The abort word reaches those that do not end within CHIME_TIMEOUT,
// and ends whatever waits; it reaches the other PEs, too. False: a kernel runs on, and needs its
// memory.
bool end_kernels(const PeSlot& slot) {
  const DeviceStage* const device = built_device(slot);
  if (!device) return true;
  const Runtime& runtime = *slot.runtime;
  Gpu& gpu = *device->gpu;
  if (gpu.wait_for_all_work(runtime.my_pe(), wait_deadline(runtime.settings))) return true;
  const AbortCause cause{
      CHIMEX_ERR_TIMEOUT, runtime.my_pe(), Path::kNone,
      fmt::format("a kernel of PE {} is still running {:.3g} s after {} was called",
                  runtime.my_pe(), static_cast<double>(runtime.settings.wait_timeout_ns) * 1e-9,
                  spoken("chime_finalize"))};
  raise_abort(device->control().abort, cause);
  tell_local_peers(*device, cause);
  return gpu.wait_for_all_work(runtime.my_pe(), std::chrono::steady_clock::now() + kAbortGrace);
}

// Runs a step of leaving, and keeps the first of their errors: the steps that follow must run, too.
// A lost PE fails no step where survivors go on: its loss was reported.
template <class Step>
void keep_first(PeSlot& slot, std::exception_ptr& first, Step&& run) {
  try {
    run();
  } catch (const Error& error) {
    if (survives(slot, error.code())) return;
    const auto blamed = blamed_for_abort(slot, error);
    if (blamed)
      slot.runtime->abort_reported.report(*blamed, [&] {
        log(LogLevel::kError, slot.pe, "{}: {}", spoken("chime_finalize"), error.what());
      });
    if (!first) first = std::make_exception_ptr(blamed ? error.announced() : error);
  } catch (...) {
    if (!first) first = std::current_exception();
  }
}

// Requests that were posted to the NIC arrive before the queue pairs go: a peer may wait for them.
// The next steps report a failure here. On a GPU a kernel does it, and a kernel that has not ended
// may leave no room for that one.
void complete_posts(PeSlot& slot, bool kernels_have_ended) {
  const DeviceStage* const device = built_device(slot);
  if (!device || !device->posts()) return;
  if (device->gpu->is_cpu()) {
    quiet(slot.host_context);
    channel::settle(slot.host_context);
    return;
  }
  if (kernels_have_ended) by_kernel::quiet(*slot.runtime);
}

// A kernel that failed has left undone what it had still to do, and no host call may have heard of
// it: calls that need no kernel go on.
void throw_if_kernels_failed(const PeSlot& slot) {
  const DeviceStage* const device = built_device(slot);
  if (device && !device->gpu->is_cpu()) device->gpu->synchronize(nullptr);
}

// From here on nobody takes this PE's end for a death, and nobody uses its memory. Survivors of a
// dead PE do not meet.
void meet_last_time(const PeSlot& slot) {
  const CollectiveCall finalize{CollectiveCall::Kind::kFinalize};
  const Runtime& runtime = *slot.runtime;
  const DeviceStage* const device = built_device(slot);
  if (!device) return meet_without_device(*runtime.bootstrap, runtime.settings, finalize);
  runtime.watch->say_goodbye();
  device->rendezvous->meet(finalize);
}

// Memory stays mapped, and a tool that looks for lost memory finds its owner.
void keep_for_ever(std::unique_ptr<DeviceStage> device) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::unique_ptr<DeviceStage>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(device));
}

}  // namespace

void watch_ends() {
  simt::set_trap_teller(tell_recorded_error);
  static const int registered =
      on_exit(tell_local_peers_at_exit, nullptr);  // atexit with the status
  (void)registered;
}

void leave_job(PeSlot& slot) {
  const FinalizeOnce leaver(slot);
  exec::detail::tell_unseen_launch_errors();
  const bool kernels_have_ended = end_kernels(slot);
  std::exception_ptr pending;
  keep_first(slot, pending, [&] { complete_posts(slot, kernels_have_ended); });
  keep_first(slot, pending, [&] {
    if (built_device(slot)) throw_async_error(*slot.runtime);
  });
  if (kernels_have_ended) keep_first(slot, pending, [&] { throw_if_kernels_failed(slot); });
  // The error ends the job: the others' kernels may wait for this one's for ever.
  if (pending && slot.on_error != OnError::kReturn) std::rethrow_exception(pending);
  stop_timeline(*slot.runtime, !pending);
  keep_first(slot, pending, [&] { meet_last_time(slot); });
  // Threads stop seeing the PE before it goes.
  std::unique_ptr<Runtime> runtime = leave_pe(slot);
  join_timeline(*runtime);
  if (runtime->device && !runtime->device->gpu->is_cpu())
    device_state_registry::clear(*runtime->device->gpu);
  runtime->pending_errors.reset();
  runtime->keepalive.reset();
  runtime->watch.reset();
  if (runtime->device) runtime->device->rendezvous.reset();  // its thread asks the bootstrap
  if (!kernels_have_ended) keep_for_ever(std::move(runtime->device));  // one of them uses it
  runtime.reset();
  if (pending) std::rethrow_exception(pending);
}

}  // namespace chime::host
