#include "host/pe/device_stage.hpp"

#include <span>
#include <utility>

#include "host/errors/error.hpp"
#include "host/errors/step.hpp"
#include "host/gpu/device_activity.hpp"
#include "host/gpu/factory.hpp"
#include "host/ops/tu_registry.hpp"
#include "host/pe/job_settings.hpp"
#include "host/peers/node_talk.hpp"

namespace chime::host {
namespace {

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

// Where each PE's heap is mapped here, for host code and for kernels.
PeerTable make_peer_table(Gpu& gpu, const P2pTransport& p2p, int n_pes) {
  PeerTable table;
  for (int pe = 0; pe < n_pes; ++pe) table.here.push_back(p2p.heap(pe));
  const std::size_t bytes = table.here.size() * sizeof(std::byte*);
  table.on_device = gpu.allocate_device(bytes);
  gpu.copy(table.on_device->address(), table.here.data(), bytes);
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
                                        Node& node, Gpu& gpu, const Heap& heap,
                                        bootstrap::Deadline deadline) {
  const NicPlace place{bootstrap.rank(), bootstrap.size(), bootstrap.job_id(),
                       node.place(bootstrap).my_pe};
  auto nic = step("opening the NIC", [&] {
    return std::make_unique<Mlx5Transport>(place, gpu, *heap.memory(), settings.nic,
                                           NicTable::scratch(place.n_pes, settings.nic));
  });
  step("connecting queue pairs", [&] { nic->connect(bootstrap, deadline); });
  return nic;
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

abi::Pe make_pe(Runtime& runtime, std::byte* const* peer_heap) {
  const DeviceStage& device = *runtime.device;
  const NodePlace node = runtime.node_place();
  abi::Pe pe;
  pe.my_pe = runtime.my_pe();
  pe.n_pes = runtime.n_pes();
  pe.node_my_pe = node.my_pe;
  pe.node_n_pes = node.n_pes;
  pe.heap = device.heap.base();
  pe.heap_bytes = device.heap.bytes();
  pe.peer_heap = peer_heap;
  pe.abort = &device.control().abort;
  pe.error = pe.async_error = &device.control().error;
  pe.wait_timeout_ns = runtime.settings.wait_timeout_ns;
  pe.on_error = runtime.settings.on_error;
  pe.amo_path = amo_path(runtime);
  pe.checked = runtime.settings.checked;
  return pe;
}

abi::Team all_pes(const Runtime& runtime) {
  abi::Team team;
  team.my_rank = runtime.my_pe();
  team.size = runtime.n_pes();
  team.sync = reinterpret_cast<abi::SyncArea*>(runtime.device->heap.base());
  return team;
}

Context make_context(Runtime& runtime, std::byte* const* peer_heap, const NicView& nic) {
  Context context;
  context.abi_version = kAbiVersion;
  context.size = sizeof(Context);
  context.pe = make_pe(runtime, peer_heap);
  context.channels = nic.channels;
  context.nic = nic.memory;
  context.team = all_pes(runtime);
  return context;
}

}  // namespace

bool device_is_chosen(const Settings& settings) { return is_chosen(device_choice(settings)); }

std::unique_ptr<DeviceStage> build_device_stage(const Settings& settings,
                                                bootstrap::Bootstrap& bootstrap, Node& node) {
  if (settings.checked) device_activity::check();
  bootstrap::Deadline deadline = init_deadline(settings);
  step("comparing settings", [&] { check_job_settings(bootstrap, settings, deadline); });
  auto gpu = step("opening the device", [&] {
    return open_gpu(device_choice(settings), talk_of_gpus(bootstrap, deadline));
  });
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
    nic = open_nic(settings, bootstrap, node, *gpu, heap, deadline);
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
  stage->rendezvous = step("opening the way to meet", [&] {
    return make_rendezvous(bootstrap, stage->p2p, stage->control().abort, settings);
  });
  return stage;
}

Context kernel_context(Runtime& runtime) {
  const DeviceStage& device = *runtime.device;
  const auto* const peers =
      reinterpret_cast<std::byte* const*>(device.peer_table.on_device->address());
  return make_context(runtime, peers, device.nic_table ? device.nic_table->kernels() : NicView{});
}

Context host_context(Runtime& runtime) {
  const DeviceStage& device = *runtime.device;
  return make_context(runtime, device.peer_table.here.data(),
                      device.nic_table ? device.nic_table->host() : NicView{});
}

}  // namespace chime::host
