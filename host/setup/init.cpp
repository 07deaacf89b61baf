#include "host/setup/init.hpp"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "host/errors/log.hpp"
#include "host/errors/step.hpp"
#include "host/pe/device_state_registry.hpp"
#include "host/pe/end.hpp"
#include "host/report/activity.hpp"
#include "host/report/dump_on_signal.hpp"
#include "host/report/pending_errors.hpp"
#include "host/settings/deadline.hpp"
#include "host/setup/device_stage.hpp"
#include "host/setup/leave.hpp"
#include "host/setup/timeline/timeline.hpp"
#include "host/setup/transports.hpp"
#include "host/trace/recorder.hpp"

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

// The transports that lead to it, or that a first touch might still make lead there.
std::vector<Transport*> transports_to(const DeviceStage& device, int pe) {
  std::vector<Transport*> found;
  for (const auto& transport : device.transports)
    if (transport->finds_peers() ||
        device.peers.state(pe, transport->capabilities().path) == PeerState::kUsable)
      found.push_back(transport.get());
  return found;
}

// Where survivors go on. The mapping goes first: when `pe` is known to be dead, its memory is not
// reached any more. That is known before requests on other paths to it fail and before calls that
// need all PEs end. Kernels of a GPU come last: the step that reaches them waits for the device.
void go_on_without(DeviceStage& device, int pe, const std::string& how) {
  const std::vector<Transport*> transports = transports_to(device, pe);
  device.peers.bury(pe, how, [&] {
    for (Transport* const transport : transports) transport->take_mapping(pe);
    mark_dead(device.dead_bits(), pe);
    tell_of_death(device.control().abort, pe);
  });
  for (const bool mapped : {false, true})
    for (Transport* const transport : transports)
      if (transport->capabilities().maps == mapped) transport->fail(pe);
}

// All paths to it end: some transports do not notice by themselves that nobody is there. Mapped
// memory stays: a thread that is using it hears the cause from the abort word.
void end_job_without(DeviceStage& device, const AbortCause& cause, const std::string& how) {
  raise_abort(device.control().abort, cause);
  mark_dead(device.dead_bits(), cause.pe);
  tell_local_peers(device, cause);
  for (Transport* const transport : transports_to(device, cause.pe))
    if (!transport->capabilities().maps) transport->fail(cause.pe);
  device.peers.bury(cause.pe, how);
}

// A PE is gone. Each survivor notices by itself, and says so once.
void on_lost_peer(Runtime& runtime, int pe, const std::string& how) {
  const Path path = runtime.device->peers.path(pe);
  AbortCause cause{CHIMEX_ERR_PEER_DEAD, pe, path,
                   fmt::format("PE {} ({}) is gone: {}", pe, words_of(path), how)};
  const bool goes_on = runtime.settings.on_peer_failure == OnPeerFailure::kReport;
  runtime.abort_reported.report(pe, [&] {
    log(LogLevel::kError, runtime.my_pe(), "{}{}", cause.why,
        goes_on ? "; going on without it (CHIME_ON_PEER_FAILURE=report)" : "");
  });
  goes_on ? go_on_without(*runtime.device, pe, how) : end_job_without(*runtime.device, cause, how);
}

void watch_peers(Runtime& runtime) {
  runtime.watch = std::make_unique<bootstrap::PeerWatch>(
      *runtime.bootstrap, runtime.device->local_peers.known,
      [&runtime](int pe, const std::string& how) { on_lost_peer(runtime, pe, how); });
}

void watch_hosts(Runtime& runtime) {
  const Settings& settings = runtime.settings;
  runtime.keepalive = std::make_unique<Keepalive>(
      *runtime.bootstrap,
      Keepalive::Options{
          .silence = std::chrono::ceil<std::chrono::milliseconds>(
              std::chrono::nanoseconds(settings.fabric.timeout_ns)),
          .interface = settings.bootstrap_interface,
          .deadline = init_deadline(settings),
          .lost = [&watch = *runtime.watch](int pe,
                                            const std::string& how) { watch.tell(pe, how); },
          .failed =
              [&runtime](const std::string& why) {
                raise_abort(runtime.device->control().abort,
                            {CHIMEX_ERR_SYSTEM, runtime.my_pe(), Path::kNone,
                             fmt::format("PE {} cannot tell any more whether hosts are lost: {}",
                                         runtime.my_pe(), why)});
              }});
}

// "; " and what chime-doctor would say, by one PE for all of its node, which are on one machine.
template <class Of>
std::string tail_about(const Of& what, const Runtime& runtime) {
  if (runtime.bootstrap->node().my_pe != 0) return {};
  const std::string why = diagnosis_of(what, runtime.settings);
  return why.empty() ? why : "; " + why;
}

// A path that was wanted and is not there, or is slow, and that the machine's owner can mend, is
// worth a warning.
void tell_of(const Transport& transport, const Runtime& runtime) {
  const std::string tail = tail_about(transport, runtime);
  log(tail.empty() ? LogLevel::kInfo : LogLevel::kWarn, runtime.my_pe(), "{}{}{}",
      transport.describe(), tail,
      tail.empty() ? "" : "; CHIME_NIC=off chooses that without this line");
  for (const Shortfall& shortfall : transport.shortfalls())
    log(LogLevel::kWarn, runtime.my_pe(), "{}{}", shortfall.text, tail_about(shortfall, runtime));
}

void finish_init(PeSlot& slot) {
  Runtime& runtime = *slot.runtime;
  runtime.device = build_device_stage(runtime.settings, *runtime.bootstrap);
  step("comparing clocks", [&] { align_timeline(runtime); });
  const Context kernels = make_context(runtime, ContextOwner::kKernels);
  if (!runtime.device->gpu->is_cpu())
    step("telling the kernels",
         [&] { device_state_registry::fill_all(kernels, *runtime.device->gpu); });
  step("watching the node's PEs", [&] { watch_peers(runtime); });
  step("watching the hosts", [&] { watch_hosts(runtime); });
  runtime.pending_errors = std::make_unique<PendingErrors>(slot);
  publish_context(slot, kernels, make_context(runtime, ContextOwner::kHost));
  log(LogLevel::kInfo, runtime.my_pe(), "{}; {}", runtime.bootstrap->describe(),
      runtime.device->gpu->describe());
  for (const auto& transport : runtime.device->transports) tell_of(*transport, runtime);
}

chimex_status code_of(const std::exception& error) {
  if (const auto* own = dynamic_cast<const Error*>(&error)) return own->code();
  const auto* bootstraps = dynamic_cast<const bootstrap::BootstrapError*>(&error);
  return bootstraps ? bootstraps->code() : CHIMEX_ERR_SYSTEM;
}

// Runs a part of the set-up, from the choice of a device on. Here, and nowhere else, the failure of
// one PE becomes the failure of all. The PE publishes it (bootstrap/bootstrap.hpp, tell_failure);
// the PEs that wait for this one read it and fail by the same words, before CHIME_INIT_TIMEOUT.
template <class Part>
void set_up(const Runtime& runtime, Part&& part) {
  const bootstrap::Bootstrap::SettingUp hears_of_others(*runtime.bootstrap);
  try {
    part();
  } catch (const std::exception& error) {
    runtime.bootstrap->tell_failure(code_of(error), error.what());
    throw;
  }
}

// By the first of the threads that need it. A failure is for ever: the other PEs, which built it in
// turn with this one, could not be brought back to the same point.
void finish_init_once(PeSlot& slot) {
  Runtime& runtime = *slot.runtime;
  std::lock_guard lock(runtime.one_builder);
  if (slot.is_ready.load(std::memory_order_relaxed)) return;
  if (runtime.device_failure) std::rethrow_exception(runtime.device_failure);
  try {
    set_up(runtime, [&] { finish_init(slot); });
  } catch (...) {
    runtime.device_failure = std::current_exception();
    runtime.pending_errors.reset();
    runtime.keepalive.reset();
    runtime.watch.reset();
    if (runtime.device) device_state_registry::clear(*runtime.device->gpu);
    runtime.device.reset();
    throw;
  }
}

}  // namespace

void join_job(const Settings& settings, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
              const DeviceStart& start) {
  const std::uint64_t begin_ns = trace::now_ns();
  auto runtime = std::make_unique<Runtime>();
  runtime->settings = settings;
  runtime->bootstrap = std::move(bootstrap);
  runtime->build_device = finish_init_once;
  runtime->dump_on_signal = std::make_unique<DumpOnSignal>();
  runtime->bootstrap->on_activity_asked([pe = runtime->my_pe()] { say_activity(pe); });
  PeSlot& slot = enter_pe(std::move(runtime));
  try {
    bool now = false;
    set_up(*slot.runtime, [&] {
      start_timeline(*slot.runtime);
      if (start.cuda_device) choose_device(settings, *start.cuda_device);
      now = start.when == DeviceStart::Time::kWhenChosen && device_is_chosen(settings);
    });
    if (now) finish_init_once(slot);
    trace::add_call("chime_init", slot.pe, begin_ns);
  } catch (...) {
    stop_timeline(*slot.runtime, false);
    keep_failed_join(std::move(leave_pe(slot)->bootstrap));
    throw;
  }
  watch_ends();
}

}  // namespace chime::host
