#include "host/pe/init.hpp"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <utility>

#include "host/errors/log.hpp"
#include "host/errors/step.hpp"
#include "host/ops/activity.hpp"
#include "host/ops/tu_registry.hpp"
#include "host/pe/device_stage.hpp"
#include "host/pe/leave.hpp"

namespace chime::host {
namespace {

const char* words_of(Path path) {
  switch (path) {
    case Path::kP2p:
      return "reached by p2p";
    case Path::kNic:
      return "reached by the NIC";
    case Path::kProxy:
      return "reached by the proxy";
    case Path::kNone:
      break;
  }
  return "not reached directly";
}

// A PE is gone: this PE's waits end. Each survivor notices by itself, and says so once.
void on_lost_peer(Runtime& runtime, int pe, const std::string& how) {
  const Path path = runtime.device->peers.path(pe);
  AbortCause cause{CHIMEX_ERR_PEER_DEAD, pe, path,
                   fmt::format("PE {} ({}) is gone: {}", pe, words_of(path), how)};
  runtime.abort_told.tell_of(pe, [&] { log(LogLevel::kError, runtime.my_pe(), "{}", cause.why); });
  runtime.device->peers.bury(pe, how);
  raise_abort(runtime.device->control().abort, cause);
  tell_mates(*runtime.device, cause);
}

void watch_peers(Runtime& runtime) {
  runtime.watch = std::make_unique<bootstrap::PeerWatch>(
      *runtime.bootstrap, runtime.device->mates.known,
      [&runtime](int pe, const std::string& how) { on_lost_peer(runtime, pe, how); });
}

void finish_init(PeSlot& slot) {
  Runtime& runtime = *slot.runtime;
  runtime.device = build_device_stage(runtime.settings, *runtime.bootstrap);
  const Context kernels = make_context(runtime, ContextOwner::kKernels);
  if (!runtime.device->gpu->is_cpu())
    step("telling the kernels", [&] { tu_registry::fill_all(kernels); });
  step("watching the node's PEs", [&] { watch_peers(runtime); });
  publish_context(slot, kernels, make_context(runtime, ContextOwner::kHost));
  log(LogLevel::kInfo, runtime.my_pe(), "{}; {}", runtime.bootstrap->describe(),
      runtime.device->gpu->describe());
  for (const auto& transport : runtime.device->transports)
    log(LogLevel::kInfo, runtime.my_pe(), "{}", transport->describe());
}

// By the first of the threads that need it. A failure is for ever: the other PEs, which built it in
// turn with this one, could not be brought back to the same point.
void finish_init_once(PeSlot& slot) {
  Runtime& runtime = *slot.runtime;
  std::lock_guard lock(runtime.one_builder);
  if (slot.is_ready.load(std::memory_order_relaxed)) return;
  if (runtime.device_failure) std::rethrow_exception(runtime.device_failure);
  try {
    finish_init(slot);
  } catch (...) {
    runtime.device_failure = std::current_exception();
    runtime.watch.reset();
    tu_registry::clear(runtime.my_pe());
    runtime.device.reset();
    throw;
  }
}

}  // namespace

void join_job(const Settings& settings, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
              DeviceStageTime when) {
  auto runtime = std::make_unique<Runtime>();
  runtime->settings = settings;
  runtime->bootstrap = std::move(bootstrap);
  runtime->bootstrap->on_activity_asked([pe = runtime->my_pe()] { say_activity(pe); });
  PeSlot& slot = enter_pe(std::move(runtime));
  try {
    const bool now = when == DeviceStageTime::kWhenChosen && device_is_chosen(settings);
    if (now) finish_init_once(slot);
  } catch (...) {
    keep_failed_join(std::move(leave_pe(slot)->bootstrap));
    throw;
  }
  watch_ends();
}

Runtime& ready_runtime() {
  Runtime& runtime = current_runtime();
  PeSlot& slot = *current_slot();
  if (!slot.is_ready.load(std::memory_order_acquire)) finish_init_once(slot);
  return runtime;
}

}  // namespace chime::host
