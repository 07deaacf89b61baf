#include "host/setup/device_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "host/errors/abort.hpp"
#include "host/errors/error.hpp"
#include "host/errors/log.hpp"
#include "host/errors/step.hpp"
#include "host/gpu/device_activity.hpp"
#include "host/gpu/factory.hpp"
#include "host/memory/loopback_words.hpp"
#include "host/ops/gpu/by_kernel.hpp"
#include "host/pe/device_state_registry.hpp"
#include "host/peers/connector.hpp"
#include "host/peers/launcher_endpoint_infos.hpp"
#include "host/peers/node_talk.hpp"
#include "host/settings/deadline.hpp"
#include "host/setup/job_settings.hpp"
#include "host/setup/transports.hpp"
#include "host/teams/places.hpp"
#include "host/trace/recorder.hpp"
#include "host/transport/channels/tables.hpp"
#include "proxy/driven_transport.hpp"
#include "proxy/heap_words.hpp"

namespace chime::host {
namespace {

// Where the program's kernels can run decides: nvcc's register themselves.
DeviceChoice device_choice(const Settings& settings) {
  const bool compiled_for_gpu = !device_state_registry::empty();
  if (settings.device == DeviceChoice::kAuto)
    return compiled_for_gpu ? DeviceChoice::kCuda : DeviceChoice::kCpu;
  if (settings.device == DeviceChoice::kCpu && compiled_for_gpu)
    throw Error(
        "CHIME_DEVICE", CHIMEX_ERR_UNSUPPORTED,
        "cpu is asked for, but this program was compiled for a GPU (by nvcc, or chime-cc); compile "
        "it by a host compiler (c++), or unset the variable");
  return settings.device;
}

// A failure that no peer is to blame for ends this PE's waits at once, and names this PE. Its next
// call ends the job, or returns.
std::function<void(Path path, const std::string& why)> lost_own_path(DeviceStage& stage) {
  return [&abort = stage.control().abort, me = stage.peers.my_pe()](Path path,
                                                                    const std::string& why) {
    raise_abort(abort, {.status = CHIMEX_ERR_NETWORK,
                        .pe = me,
                        .path = path,
                        .why = fmt::format("PE {} reaches no peer any more: {}", me, why)});
  };
}

abi::Pe make_pe(const DeviceStage& stage, const Settings& settings,
                bootstrap::Bootstrap& bootstrap) {
  const bootstrap::NodeInfo& node = bootstrap.node();
  abi::Pe pe;
  pe.my_pe = bootstrap.rank();
  pe.n_pes = bootstrap.size();
  pe.node_my_pe = node.my_pe;
  pe.node_n_pes = node.n_pes;
  pe.heap = stage.heap.base();
  pe.heap_bytes = stage.heap.program_bytes();
  pe.dead = stage.dead_bits().data();
  pe.abort = &stage.control().abort;
  pe.error = pe.async_error = &stage.control().error;
  pe.wait_timeout_ns = settings.wait_timeout_ns;
  pe.on_error = settings.on_error;
  pe.amo_path = stage.peers.amo_path();
  pe.traced = trace::is_recording();
  pe.checked = settings.checked ? abi::kChecks : 0;
  pe.allocations = stage.heap.known_allocations();
  return pe;
}

Context make_context(ContextOwner owner, const DeviceStage& stage, const Settings& settings,
                     bootstrap::Bootstrap& bootstrap) {
  Context context;
  context.abi_version = kAbiVersion;
  context.size = sizeof(Context);
  context.pe = make_pe(stage, settings, bootstrap);
  const bool is_for_cpu = owner == ContextOwner::kHost || stage.gpu->is_cpu();
  if (is_for_cpu && context.pe.traced != 0) context.pe.checked |= abi::kNotes;
  stage.tables->view(owner, context);
  context.teams = stage.teams->view();
  for (const auto& transport : stage.transports) transport->view(owner, context);
  return context;
}

// The first allocation of the heap, on every PE. The heap was made larger by it.
std::size_t bounce_bytes(const Gpu& gpu) {
  return gpu.is_cpu() ? 0 : by_kernel::kBounceBytes + by_kernel::kStreamRoomsBytes;
}
void set_bounce_rooms_aside(DeviceStage& stage) {
  const std::size_t bytes = bounce_bytes(*stage.gpu);
  if (bytes == 0) return;
  const std::span memory(stage.heap.allocate_own(bytes, abi::kHeapReserved), bytes);
  stage.bounce = memory.first(by_kernel::kBounceBytes);
  stage.staged_bounce = stage.gpu->allocate_host_visible(by_kernel::kStagedBounceBytes);
  stage.stream_rooms = std::make_unique<StreamRooms>(
      *stage.gpu, memory.subspan(by_kernel::kBounceBytes), stage.control().room_is_left);
}

// Whether this PE's NIC makes all updates of its words.
bool nic_updates_words(const DeviceStage& stage) {
  const PeerTable& peers = stage.peers;
  const bool has_nic = peers.state(peers.my_pe(), Path::kNic) == PeerState::kUsable;
  return peers.amo_path() == Path::kNic && has_nic;
}

// Null: the processor updates this PE's words, and so do all PEs that reach them.
std::unique_ptr<WordOwner> words_by_nic(const DeviceStage& stage, const Settings& settings,
                                        bootstrap::Bootstrap& bootstrap) {
  if (!nic_updates_words(stage)) return nullptr;
  return std::make_unique<LoopbackWords>(
      make_context(ContextOwner::kHost, stage, settings, bootstrap),
      std::make_unique<proxy::HeapWords>(std::span(stage.heap.base(), stage.heap.bytes())));
}

// A transport that the host drives gets the proxy before it, so that kernels can use it.
std::unique_ptr<Transport> usable_by_kernels(std::unique_ptr<Transport> opened, DeviceStage& stage,
                                             const Settings& settings,
                                             bootstrap::Bootstrap& bootstrap, int node_pes) {
  if (opened->host_driven() == nullptr) return opened;
  const int me = stage.peers.my_pe();
  const auto end_job = [lost = lost_own_path(stage), path = opened->capabilities().path](
                           const std::string& why) { lost(path, "its proxy ended: " + why); };
  const proxy::DrivenTransport::Setup setup = {
      .my_pe = me,
      .n_pes = stage.peers.n_pes(),
      .node_pes = node_pes,
      .gpu = *stage.gpu,
      .heap = {stage.heap.base(), stage.heap.bytes()},
      .options = settings.proxy,
      .failed = end_job,
      .words = [&stage, &settings, &bootstrap] { return words_by_nic(stage, settings, bootstrap); },
      .words_by_nic =
          [&stage, &settings, &bootstrap] {
            return nic_updates_words(stage)
                       ? std::optional(
                             make_context(ContextOwner::kKernels, stage, settings, bootstrap))
                       : std::nullopt;
          }};
  return std::make_unique<proxy::DrivenTransport>(std::move(opened), setup);
}

// From here on peers are connected when they are first touched.
void open_on_demand(DeviceStage& stage, Transport& transport, const Settings& settings,
                    bootstrap::Bootstrap& bootstrap) {
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::nanoseconds(settings.init_timeout_ns));
  stage.on_demand.push_back(std::make_unique<OnDemand>(
      bootstrap, transport, stage.peers,
      OnDemand::Setup{.interface = settings.bootstrap_interface, .timeout = timeout}));
}

// For a peer that is opened on demand.
bool may_have_no_place(const Transport& transport, int n_pes) {
  return transport.opens_on_demand() &&
         transport.channel_needs().places < static_cast<unsigned>(n_pes);
}

// A failure gets what chime-doctor knows of this machine.
std::unique_ptr<Transport> open_by_kind(const TransportKind& kind, const TransportSetup& setup,
                                        const Settings& settings) {
  try {
    return kind.open(setup);
  } catch (const Error& error) {
    const std::string why = kind.why_none != nullptr ? kind.why_none(settings) : std::string();
    if (why.empty()) throw;
    throw Error(error.origin(), error.code(), error.message() + "; " + why);
  }
}

// Each transport of the job in turn: the later ones may depend on what the earlier ones reach.
// Their kinds.
std::vector<const TransportKind*> connect_transports(DeviceStage& stage, const Settings& settings,
                                                     bootstrap::Bootstrap& bootstrap,
                                                     bootstrap::Deadline deadline) {
  stage.fabric_endpoint_infos = std::make_unique<LauncherEndpointInfos>(
      bootstrap, Path::kProxy, std::chrono::nanoseconds(settings.init_timeout_ns));
  const bootstrap::NodeInfo& node = step(
      "finding the node's PEs", [&]() -> const auto& { return bootstrap.node(); });
  std::vector<const TransportKind*> kinds;
  Connector connector(bootstrap, stage.control_memory, stage.peers, deadline);
  TransportSetup setup{.my_pe = bootstrap.rank(),
                       .n_pes = bootstrap.size(),
                       .node_pe = node.my_pe,
                       .is_one_node = node.n_pes == bootstrap.size(),
                       .job = bootstrap.job_id(),
                       .gpu = *stage.gpu,
                       .heap = stage.heap.memory(),
                       .p2p = settings.p2p,
                       .nic = settings.nic,
                       .fabric = settings.fabric,
                       .reaches_all = false,
                       .fabric_endpoint_infos = stage.fabric_endpoint_infos.get(),
                       .lost_own_path = lost_own_path(stage)};
  for (const TransportKind& kind : transport_kinds()) {
    auto opened = step(kind.opening, [&] { return open_by_kind(kind, setup, settings); });
    if (!opened) continue;
    Transport& transport = stage.transports.add(
        usable_by_kernels(std::move(opened), stage, settings, bootstrap, node.n_pes));
    kinds.push_back(&kind);
    stage.peers.add(transport);
    step(kind.connecting, [&] { connector.connect(transport); });
    const Path path = transport.capabilities().path;
    setup.reaches_all |= stage.peers.all_by(path) && !may_have_no_place(transport, setup.n_pes);
  }
  stage.local_peers = connector.take_local_peers();
  return kinds;
}

// Whether its channels get their peers while kernels run.
bool leads_to_some_on_demand(const DeviceStage& stage, const Transport& transport) {
  return transport.channel_needs().opens_on_demand &&
         stage.peers.any_by(transport.capabilities().path);
}

// The tables that kernels read, when all peers are connected: the channels of all transports lie in
// the same tables.
void make_tables(DeviceStage& stage, std::span<const TransportKind* const> kinds) {
  std::vector<ChannelNeeds> needs;
  for (const auto& transport : stage.transports) {
    needs.push_back(transport->channel_needs());
    needs.back().opens_on_demand &= leads_to_some_on_demand(stage, *transport);
  }
  stage.tables = std::make_unique<ChannelTables>(*stage.gpu, stage.peers.n_pes(), needs);
  const auto each = [&](auto do_at) {
    auto kind = kinds.begin();
    for (const auto& transport : stage.transports)
      step((*kind++)->viewing, [&] { do_at(*transport); });
  };
  each([&](Transport& transport) { transport.make_view(*stage.tables); });
  stage.tables->publish();
  each([](Transport& transport) { transport.begin(); });
  stage.registered_buffers.tell_kernels_by(stage.tables->buffers());
}

// Which PEs all map each other, as far as it is known before they are connected.
std::vector<int> mapped_by_settings(const Settings& settings,
                                    const bootstrap::Bootstrap& bootstrap) {
  std::vector<int> pes = bootstrap.node().pes;
  std::erase_if(pes, [&](int pe) { return !settings.p2p.maps(bootstrap.rank(), pe); });
  return pes;
}

// Where the user asks for an algorithm that needs it. Without it, calls go as by auto.
void make_multicast(DeviceStage& stage, const Settings& settings, bootstrap::Bootstrap& bootstrap,
                    bootstrap::Deadline deadline) {
  if (settings.collectives.by_multimem == 0) return;
  const bootstrap::NodeInfo& node = bootstrap.node();
  const bool maps_all = std::ranges::all_of(node.pes, [&](int pe) {
    return pe == bootstrap.rank() || stage.peers.path(pe) == Path::kP2p;
  });
  stage.multicast = step("making one address of the node's heaps", [&] {
    return make_node_multicast({.bootstrap = bootstrap,
                                .gpu = *stage.gpu,
                                .heap = *stage.heap.memory(),
                                .maps_all = maps_all,
                                .control = *stage.control_memory,
                                .deadline = deadline});
  });
  const NodeMulticast& made = stage.multicast;
  if (made.object) return stage.teams->use_multicast(made.heaps, made.pes);
  if (node.my_pe == 0)
    log(LogLevel::kWarn, bootstrap.rank(),
        "collectives do not go by multimem here, but as without CHIME_COLL_...=multimem: {}",
        made.why_not);
}

// Those that are known without asking other PEs.
void add_predefined_teams(DeviceStage& stage, bootstrap::Bootstrap& bootstrap) {
  const bootstrap::NodeInfo& node = bootstrap.node();
  std::vector<int> mapped;
  for (int pe = 0; pe < bootstrap.size(); ++pe)
    if (pe == bootstrap.rank() || stage.peers.path(pe) == Path::kP2p) mapped.push_back(pe);
  stage.teams->add_predefined(CHIME_TEAM_SHARED, Members(mapped));
  stage.teams->add_predefined(CHIMEX_TEAM_NODE, Members(node.pes));
  if (node.n_pes == bootstrap.size())
    stage.teams->add_predefined(CHIMEX_TEAM_SAME_MYPE_NODE, Members(std::vector{bootstrap.rank()}));
  else
    step("leaving the node's PEs to other nodes", [&] { publish_node(bootstrap); });
}

// A GPU's PEs meet in barriers by collective calls: nobody needs to look.
Beside beside_calls(DeviceStage& stage) {
  if (!stage.gpu->is_cpu()) return {};
  return {.barrier =
              [&control = stage.control()] {
                return std::atomic_ref(control.in_barrier).load(std::memory_order_relaxed);
              },
          .kernels_run =
              [&gpu = *stage.gpu, pe = stage.peers.my_pe()] {
                return !gpu.wait_for_all_work(pe, std::chrono::steady_clock::now());
              }};
}

}  // namespace

void choose_device(const Settings& settings, int cuda_device) {
  choose_gpu(device_choice(settings), cuda_device);
}

bool device_is_chosen(const Settings& settings) { return is_chosen(device_choice(settings)); }

std::unique_ptr<DeviceStage> build_device_stage(const Settings& settings,
                                                bootstrap::Bootstrap& bootstrap) {
  if (settings.checked) device_activity::check();
  bootstrap::Deadline deadline = init_deadline(settings);
  step("comparing settings", [&] { check_job_settings(bootstrap, settings, deadline); });
  auto gpu = step("opening the device", [&] {
    return open_gpu(device_choice(settings), talk_of_gpus(bootstrap, deadline));
  });
  // Drivers may compile kernels there, which is no waiting for others.
  deadline = init_deadline(settings);
  std::shared_ptr<DeviceMemory> control = step("allocating the control page", [&] {
    const auto n_pes = static_cast<std::size_t>(bootstrap.size());
    return gpu->allocate_host_visible(sizeof(ControlBlock) +
                                      (n_pes + 63) / 64 * sizeof(std::uint64_t));
  });
  const TeamTable::Shape teams = {static_cast<int>(settings.max_teams),
                                  static_cast<int>(settings.team_lanes), bootstrap.size(),
                                  settings.collective_scratch, settings.collectives};
  Heap heap = step("allocating the symmetric heap", [&] {
    return Heap(*gpu, settings.symmetric_bytes + bounce_bytes(*gpu),
                {teams.heap_bytes(), teams.zero_bytes()});
  });
  auto stage = std::make_unique<DeviceStage>(
      std::move(gpu), std::move(control), std::move(heap),
      PeerTable::Job{bootstrap.rank(), bootstrap.size(), settings.amo});
  stage->teams =
      std::make_unique<TeamTable>(*stage->gpu, stage->heap.own_memory(), teams, bootstrap.rank(),
                                  mapped_by_settings(settings, bootstrap));
  set_bounce_rooms_aside(*stage);
  if (settings.checks_bounds)
    step("making the bounds of allocations known", [&] { stage->heap.check_bounds(*stage->gpu); });
  make_tables(*stage, connect_transports(*stage, settings, bootstrap, deadline));
  make_multicast(*stage, settings, bootstrap, init_deadline(settings));
  add_predefined_teams(*stage, bootstrap);
  for (const auto& transport : stage->transports)
    if (leads_to_some_on_demand(*stage, *transport))
      step("opening the way to ask for peers",
           [&] { open_on_demand(*stage, *transport, settings, bootstrap); });
  stage->rendezvous = step("opening the way to meet", [&] {
    return make_rendezvous(bootstrap, stage->peers, stage->control().abort, settings,
                           beside_calls(*stage));
  });
  return stage;
}

Context make_context(Runtime& runtime, ContextOwner owner) {
  return make_context(owner, *runtime.device, runtime.settings, *runtime.bootstrap);
}

}  // namespace chime::host
