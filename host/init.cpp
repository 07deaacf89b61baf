#include "host/init.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "chime/abi/launch_status.h"
#include "chime/device/sync.cuh"
#include "host/activity.hpp"
#include "host/async_error.hpp"
#include "host/error.hpp"
#include "host/gpu/device_activity.hpp"
#include "host/gpu/factory.hpp"
#include "host/guard.hpp"
#include "host/job_settings.hpp"
#include "host/log.hpp"
#include "host/tu_registry.hpp"

namespace chime::host {
namespace {

// The job that this thread's PE failed to join, for end_job. Gone before the next attempt,
// which the job would refuse while this connection stands.
thread_local std::unique_ptr<bootstrap::Bootstrap> job_not_joined;

// For waiting kernels to see that their job is aborted, on a busy machine.
constexpr std::chrono::seconds kAbortGrace{5};

// Runs a step of set-up; what it throws says that it was this step.
template <class Step>
auto step(const char* name, Step&& run) {
  try {
    return run();
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", name, error.origin()), error.code(), error.message());
  } catch (const bootstrap::BootstrapError& error) {
    throw Error(name, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    throw Error(name, CHIMEX_ERR_OUT_OF_MEMORY, "the system has no memory left");
  }
}

bootstrap::Deadline init_deadline(const Settings& settings) {
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(settings.init_timeout_ns);
}

// Where the program's kernels can run decides: nvcc's register themselves.
DeviceChoice device_choice(const Settings& settings) {
  const bool compiled_for_gpu = !tu_registry::empty();
  if (settings.device == DeviceChoice::kAuto)
    return compiled_for_gpu ? DeviceChoice::kCuda : DeviceChoice::kCpu;
  if (settings.device == DeviceChoice::kCpu && compiled_for_gpu)
    throw Error(
        "CHIME_DEVICE", CHIMEX_ERR_UNSUPPORTED,
        "cpu is asked for, but this program's kernels are compiled for a GPU; compile it for "
        "the CPU device, or unset the variable");
  return settings.device;
}

// This PE's place among those of its node: they spread over the GPUs by it.
int rank_on_node(const bootstrap::Bootstrap& bootstrap) {
  const std::vector<int> peers = bootstrap.node_peers();
  return static_cast<int>(std::find(peers.begin(), peers.end(), bootstrap.rank()) - peers.begin());
}

std::unique_ptr<DeviceMemory> make_peer_table(Gpu& gpu, const P2pTransport& p2p, int n_pes) {
  auto table = gpu.allocate_host_visible(sizeof(std::byte*) * static_cast<std::size_t>(n_pes));
  auto rows = reinterpret_cast<std::byte**>(table->address());
  for (int pe = 0; pe < n_pes; ++pe) rows[pe] = p2p.heap(pe);
  return table;
}

bool reaches_all(const Transport& transport, int n_pes) {
  for (int pe = 0; pe < n_pes; ++pe)
    if (!transport.reaches(pe)) return false;
  return true;
}

// The same answer on every PE: a NIC is asked for on all of them; and with auto, either all PEs run
// on one node that maps them, or each has a peer that is not mapped.
bool wants_nic(const Settings& settings, const P2pTransport& p2p, int n_pes) {
  if (settings.nic.is_off()) return false;
  return !settings.nic.is_auto() || !reaches_all(p2p, n_pes);
}

std::unique_ptr<Mlx5Transport> open_nic(const Settings& settings, bootstrap::Bootstrap& bootstrap,
                                        Gpu& gpu, const Heap& heap, bootstrap::Deadline deadline) {
  const NicPlace place{bootstrap.rank(), bootstrap.size(), bootstrap.job_id()};
  auto nic = step("opening the NIC", [&] {
    return std::make_unique<Mlx5Transport>(place, gpu, *heap.memory(), settings.nic,
                                           NicTable::bytes(place.n_pes, settings.nic));
  });
  step("connecting queue pairs", [&] { nic->connect(bootstrap, deadline); });
  return nic;
}

std::unique_ptr<DeviceStage> build_device_stage(const Settings& settings,
                                                bootstrap::Bootstrap& bootstrap) {
  if (settings.checked) device_activity::check();
  bootstrap::Deadline deadline = init_deadline(settings);
  step("comparing settings", [&] { check_job_settings(bootstrap, settings, deadline); });
  auto gpu = step("opening the device",
                  [&] { return open_gpu(device_choice(settings), rank_on_node(bootstrap)); });
  std::shared_ptr<DeviceMemory> control = step("allocating the control page", [&] {
    return gpu->allocate_host_visible(sizeof(ControlBlock));
  });
  Heap heap =
      step("allocating the symmetric heap", [&] { return Heap(*gpu, settings.symmetric_bytes); });
  P2pTransport p2p = step("mapping the node's PEs", [&] {
    return P2pTransport(bootstrap, *gpu, {heap.memory(), control}, settings.p2p, deadline);
  });
  std::unique_ptr<Mlx5Transport> nic;
  if (wants_nic(settings, p2p, bootstrap.size()))
    nic = open_nic(settings, bootstrap, *gpu, heap, deadline);
  std::unique_ptr<NicTable> nic_table;
  if (nic && nic->is_open())
    nic_table =
        std::make_unique<NicTable>(*nic, *gpu, *heap.memory(), bootstrap.size(), settings.nic);
  auto registered_buffers = std::make_unique<RegisteredBuffers>(
      std::span(heap.base(), heap.bytes()), !gpu->is_cpu(), nic_table ? nic.get() : nullptr,
      nic_table ? &nic_table->buffers() : nullptr);
  auto peer_table =
      step("writing the peer table", [&] { return make_peer_table(*gpu, p2p, bootstrap.size()); });
  auto stage = std::make_unique<DeviceStage>(
      DeviceStage{std::move(gpu), std::move(control), std::move(heap), std::move(p2p),
                  std::move(nic), std::move(nic_table), std::move(registered_buffers),
                  std::move(peer_table), nullptr, std::nullopt});
  stage->rendezvous = make_rendezvous(bootstrap, stage->p2p, settings.wait_timeout_ns);
  return stage;
}

// How the job updates words of atomics: the same answer on every PE, since either all PEs are
// mapped everywhere or each has one that is not, and a PE without a NIC is reached by nobody's.
Path amo_path(const Runtime& runtime) {
  const DeviceStage& device = *runtime.device;
  const bool nic = device.nic_table && reaches_all(*device.nic, runtime.n_pes());
  switch (runtime.settings.amo) {
    case AmoChoice::kP2p:
      return Path::kP2p;
    case AmoChoice::kAuto:
      return nic && !reaches_all(device.p2p, runtime.n_pes()) ? Path::kNic : Path::kP2p;
    case AmoChoice::kOwner:
      break;
  }
  if (nic) return Path::kNic;
  throw Error("CHIME_AMO", CHIMEX_ERR_UNSUPPORTED,
              "owner takes a NIC on every PE, and there is none; set CHIME_NIC, or CHIME_AMO=auto");
}

Context make_context(const Runtime& runtime) {
  const DeviceStage& device = *runtime.device;
  Context context;
  context.abi_version = kAbiVersion;
  context.size = sizeof(Context);
  context.my_pe = runtime.my_pe();
  context.n_pes = runtime.n_pes();
  context.heap = device.heap.base();
  context.heap_bytes = device.heap.bytes();
  context.peer_heap = reinterpret_cast<std::byte* const*>(device.peer_table->address());
  context.sync = reinterpret_cast<abi::SyncArea*>(device.heap.base());
  context.abort = &device.control().abort;
  context.error = &device.control().error;
  context.wait_timeout_ns = runtime.settings.wait_timeout_ns;
  context.on_error = runtime.settings.on_error;
  context.amo_path = amo_path(runtime);
  context.checked = runtime.settings.checked;
  if (device.nic_table) {
    context.nic = device.nic_table->kernels();
    context.host_nic = device.nic_table->host();
  }
  return context;
}

// Tells every mapped node mate why the job ends.
void tell_mates(const Runtime& runtime, const AbortCause& cause) {
  if (!runtime.device) return;
  for (int pe = 0; pe < runtime.n_pes(); ++pe)
    if (std::byte* control = runtime.device->p2p.control(pe))
      raise_abort(reinterpret_cast<ControlBlock*>(control)->abort, cause);
}

// A PE is gone: this PE's waits end. Each survivor notices by itself, and says so once.
void on_lost_peer(Runtime& runtime, int pe, const std::string& how) {
  const char* path = runtime.device->p2p.reaches(pe) ? "reached by p2p" : "not reached directly";
  AbortCause cause{CHIMEX_ERR_PEER_DEAD, pe, Path::kP2p,
                   fmt::format("PE {} ({}) is gone: {}", pe, path, how)};
  if (runtime.announced_pe.exchange(pe) != pe)
    log(LogLevel::kError, runtime.my_pe(), "{}", cause.why);
  raise_abort(runtime.device->control().abort, cause);
  tell_mates(runtime, cause);
}

void watch_peers(Runtime& runtime) {
  runtime.watch = std::make_unique<bootstrap::PeerWatch>(
      *runtime.bootstrap, runtime.device->p2p.mates(),
      [&runtime](int pe, const std::string& how) { on_lost_peer(runtime, pe, how); });
}

void finish_init(PeSlot& slot) {
  Runtime& runtime = *slot.runtime;
  runtime.device = build_device_stage(runtime.settings, *runtime.bootstrap);
  const Context context = make_context(runtime);
  if (!runtime.device->gpu->is_cpu())
    step("telling the kernels", [&] { tu_registry::fill_all(context); });
  step("watching the node's PEs", [&] { watch_peers(runtime); });
  publish_context(slot, context);
  log(LogLevel::kInfo, runtime.my_pe(), "{}; {}", runtime.bootstrap->describe(),
      runtime.device->gpu->describe());
  if (runtime.device->nic)
    log(LogLevel::kInfo, runtime.my_pe(), "{}", runtime.device->nic->describe());
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
    runtime.device.reset();
    throw;
  }
}

// Nothing is left to choose: there is one CPU device, the thread has chosen its GPU, or there is
// none to be had.
bool device_is_chosen(const Settings& settings) { return is_chosen(device_choice(settings)); }

// What kernels met and no call has told yet: the last chance to say it.
void report_unseen_error(Runtime& runtime) {
  try {
    if (runtime.device) throw_recorded_error(runtime);
  } catch (...) {
    handle_current_exception("exit");
  }
}

// What a process can end with: the low eight bits, as exit() takes them, but a failure stays one.
int exit_code_of(int status) {
  const int code = status & 0xff;
  return status != 0 && code == 0 ? 1 : code;
}

// The last process of this line of fork() that joined a job.
std::atomic<pid_t> joined_process{0};

// A process that ends without chime_finalize: its mates must not wait for it. A child of fork() has
// no part in the job, and takes no lock: a thread that it does not have may hold it.
//
// The mates end with its status, so that the job's is the same whoever is seen to end first; 0 is a
// failure here, too.
void tell_mates_at_exit(int status, void*) {
  if (joined_process.load(std::memory_order_relaxed) != getpid()) return;
  exec::detail::tell_unseen_launch_errors();
  const int code = status == 0 ? 1 : exit_code_of(status);
  for_each_pe([code](PeSlot& slot) {
    if (slot.runtime->process != getpid()) return;
    report_unseen_error(*slot.runtime);
    int pe = slot.runtime->my_pe();
    tell_mates(*slot.runtime, {CHIMEX_ERR_PEER_DEAD, pe, Path::kP2p,
                               fmt::format("PE {} exited without chime_finalize", pe), code});
  });
}

void watch_exit_once() {
  joined_process.store(getpid(), std::memory_order_relaxed);
  static const int registered = on_exit(tell_mates_at_exit, nullptr);  // atexit with the status
  (void)registered;
}

// No destructors: other threads of this process may still be inside kernels or waits.
[[noreturn]] void end_process(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

std::chrono::steady_clock::time_point wait_deadline(const Settings& settings) {
  const auto bound = settings.wait_timeout_ns ? std::chrono::nanoseconds(settings.wait_timeout_ns)
                                              : std::chrono::hours(24 * 365);
  return std::chrono::steady_clock::now() + bound;
}

// Waits for this PE's kernels. Those that do not end within CHIME_TIMEOUT are told by the abort
// word, which ends whatever waits; so are the other PEs. False: one runs on, and needs its memory.
bool end_kernels(Runtime& runtime) {
  if (!runtime.device) return true;
  Gpu& gpu = *runtime.device->gpu;
  if (gpu.wait_for_all_work(runtime.my_pe(), wait_deadline(runtime.settings))) return true;
  const AbortCause cause{
      CHIMEX_ERR_TIMEOUT, runtime.my_pe(), Path::kNone,
      fmt::format("a kernel of PE {} is still running {:.3g} s after chime_finalize was called",
                  runtime.my_pe(), static_cast<double>(runtime.settings.wait_timeout_ns) * 1e-9)};
  raise_abort(runtime.device->control().abort, cause);
  tell_mates(runtime, cause);
  return gpu.wait_for_all_work(runtime.my_pe(), std::chrono::steady_clock::now() + kAbortGrace);
}

// Runs a step of leaving, and keeps the first of their errors: the steps that follow must run, too.
template <class Step>
void keep_first(Runtime& runtime, std::exception_ptr& first, Step&& run) {
  try {
    run();
  } catch (const Error& error) {
    const bool is_known = is_announced(runtime, error);
    if (!first) first = std::make_exception_ptr(is_known ? error.announced() : error);
  } catch (...) {
    if (!first) first = std::current_exception();
  }
}

// What was posted to the NIC arrives before the queue pairs go: a peer may wait for it. What fails
// here was not waited for, and is not told.
void complete_posts(PeSlot& slot) {
  if (!slot.runtime->device || !slot.runtime->device->nic_table) return;
  if (slot.runtime->device->gpu->is_cpu()) quiet(slot.context);
}

// From here on nobody takes this PE's end for a death, and nobody uses its memory.
void meet_last_time(Runtime& runtime) {
  if (!runtime.device) return runtime.bootstrap->barrier(init_deadline(runtime.settings));
  runtime.watch->say_goodbye();
  runtime.device->rendezvous->meet({CollectiveCall::Kind::kFinalize});
}

bool launcher_tells_of_a_loss(const bootstrap::Bootstrap& bootstrap) {
  for (int pe = 0; pe < bootstrap.size(); ++pe)
    if (!bootstrap.why_lost(pe).empty()) return true;
  return false;
}

// Memory stays mapped, and a tool that looks for lost memory finds who holds it.
void keep_for_ever(std::unique_ptr<DeviceStage> device) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::unique_ptr<DeviceStage>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(device));
}

}  // namespace

void forget_failed_join() { job_not_joined.reset(); }

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
    job_not_joined = std::move(leave_pe(slot)->bootstrap);
    throw;
  }
  watch_exit_once();
}

Runtime& ready_runtime() {
  Runtime& runtime = current_runtime();
  PeSlot& slot = *current_slot();
  if (!slot.is_ready.load(std::memory_order_acquire)) finish_init_once(slot);
  return runtime;
}

void leave_job(PeSlot& slot) {
  exec::detail::tell_unseen_launch_errors();
  const bool kernels_have_ended = end_kernels(*slot.runtime);
  complete_posts(slot);
  std::exception_ptr pending;
  keep_first(*slot.runtime, pending, [&] { throw_async_error(*slot.runtime); });
  keep_first(*slot.runtime, pending, [&] { meet_last_time(*slot.runtime); });
  // Threads stop seeing the PE before it goes.
  std::unique_ptr<Runtime> runtime = leave_pe(slot);
  if (runtime->device && !runtime->device->gpu->is_cpu()) tu_registry::clear(runtime->my_pe());
  runtime->watch.reset();
  if (!kernels_have_ended) keep_for_ever(std::move(runtime->device));  // one of them uses it
  runtime.reset();
  if (pending) std::rethrow_exception(pending);
}

void end_job(int status, const std::string& why) {
  const int code = exit_code_of(status);
  if (PeSlot* slot = current_slot()) {
    Runtime& runtime = *slot->runtime;
    runtime.bootstrap->abort(code, why);
    const int pe = runtime.my_pe();
    tell_mates(runtime, {CHIMEX_ERR_ABORTED, pe, Path::kNone,
                         fmt::format("PE {} ended the job: {}", pe, why), code});
  } else if (job_not_joined && !launcher_tells_of_a_loss(*job_not_joined)) {
    // The job cannot start without this PE: the others need not wait for their deadline. Where the
    // launcher has told of a lost PE they hear that too, and shall live to say it themselves.
    job_not_joined->abort(code, why);
  }
  end_process(code);
}

void end_aborted_pe() {
  int code = 1;
  if (PeSlot* slot = current_slot()) {
    Runtime& runtime = *slot->runtime;
    if (auto cause = runtime.device ? abort_cause(runtime.device->control().abort) : std::nullopt)
      code = cause->exit_code;
    // The others know the cause; they shall not take this end for another one.
    try {
      if (runtime.watch) runtime.watch->say_goodbye();
    } catch (const bootstrap::BootstrapError&) {
      // Then they will name this PE too.
    }
  }
  end_process(code);
}

}  // namespace chime::host
