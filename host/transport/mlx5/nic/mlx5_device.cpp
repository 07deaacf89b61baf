#include "host/transport/mlx5/nic/mlx5_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "host/errors/error.hpp"
#include "host/transport/mlx5/nic/mlx5_gid.hpp"
#include "host/transport/mlx5/nic/nic_places.hpp"
#include "host/transport/mlx5/nic/prm.hpp"

namespace chime::host::mlx5 {
namespace {

// The devices that libibverbs finds, freed with the list: an opened device outlives it.
class DeviceList {
 public:
  explicit DeviceList(const std::string& wanted)
      : devices_(rdma_core().ibv_get_device_list(&count_)) {
    if (!devices_)
      fail_nic(fmt::format("CHIME_NIC={}: this machine lists no RDMA devices", wanted), errno,
               "allowed are auto, off, soft (an emulated device) and a device's name; a real "
               "device needs the kernel module ib_uverbs, and /dev/infiniband in this container");
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  ~DeviceList() { rdma_core().ibv_free_device_list(devices_); }

  ibv_device* operator[](std::size_t i) const { return devices_[i]; }

  std::vector<Candidate> candidates() const {
    std::vector<Candidate> found;
    for (int i = 0; i < count_; ++i) {
      const std::string name = rdma_core().ibv_get_device_name(devices_[i]);
      const std::string directory = devices_[i]->ibdev_path;
      found.push_back({name, rdma_core().mlx5dv_is_supported(devices_[i]), directory,
                       ports_in_sysfs(directory)});
    }
    return found;
  }

 private:
  int count_ = 0;
  ibv_device** devices_;
};

GidType type_of(std::uint32_t verbs_type) {
  if (verbs_type == IBV_GID_TYPE_ROCE_V2) return GidType::kRoceV2;
  return verbs_type == IBV_GID_TYPE_ROCE_V1 ? GidType::kRoceV1 : GidType::kInfiniBand;
}

std::vector<GidEntry> read_gids(ibv_context* context, std::uint8_t port, int length) {
  std::vector<GidEntry> table;
  for (int i = 0; i < length; ++i) {
    ibv_gid_entry entry;
    if (rdma_core().query_gid(context, port, static_cast<unsigned>(i), entry) != 0) continue;
    GidEntry row{static_cast<unsigned>(i), type_of(entry.gid_type), {}};
    std::memcpy(row.gid.data(), entry.gid.raw, row.gid.size());
    table.push_back(row);
  }
  return table;
}

// Other processors' memory is not known to keep the order of a NIC's writes: libmlx5 has it so,
// too.
#ifdef __x86_64__
constexpr bool kHostKeepsOrder = true;
#else
constexpr bool kHostKeepsOrder = false;
#endif

using CapabilityPage = std::array<std::byte, prm::query_hca_cap::kOutBytes>;

// The current capabilities of one type; empty if the firmware does not tell.
std::optional<CapabilityPage> query_capabilities(ibv_context* context,
                                                 prm::query_hca_cap::Type type) {
  std::byte in[prm::command::kBytes] = {};
  prm::command::kOpcode.set(in, prm::kQueryHcaCap);
  prm::command::kOpMod.set(in, type << 1 | prm::query_hca_cap::kCurrent);
  CapabilityPage out{};
  if (rdma_core().mlx5dv_devx_general_cmd(context, in, sizeof in, out.data(), out.size()) != 0)
    return std::nullopt;
  return out;
}

}  // namespace

Device::Device(const NicOptions& options, const std::string& gpu, int turn) : options_(options) {
  open(gpu, turn);
  pd_.reset(rdma_core().ibv_alloc_pd(context()));
  if (!pd_) fail_nic(name_ + " gives no protection domain", errno);
  read_port();
  read_capabilities();
}

void Device::open(const std::string& gpu, int turn) {
  const DeviceList devices(options_.device);
  std::vector<Candidate> candidates = devices.candidates();
  Goal goal;
  if (nearness_decides(candidates, options_.device))
    goal = find_places(candidates, gpu, topology::this_machine());
  const ChosenPort chosen = choose_port(candidates, options_.device, goal, turn);
  why_this_port_ = chosen.why;
  name_ = candidates[chosen.device].name;
  port_ = static_cast<std::uint8_t>(chosen.port);
  mlx5dv_context_attr attributes{};
  attributes.flags = MLX5DV_CONTEXT_FLAGS_DEVX;
  context_.reset(rdma_core().mlx5dv_open_device(devices[chosen.device], &attributes));
  if (context_) return;
  why_no_devx_ = "the kernel gives no DevX context: " + std::generic_category().message(errno);
  attributes.flags = 0;
  context_.reset(rdma_core().mlx5dv_open_device(devices[chosen.device], &attributes));
  if (!context_)
    fail_nic(name_ + " cannot be opened", errno,
             "see the permissions of /dev/infiniband/uverbs* and ulimit -n");
}

void Device::read_port() {
  ibv_port_attr port;
  if (const int error = rdma_core().query_port(context(), port_, port))
    fail_nic(fmt::format("port {} of {} cannot be queried", port_, name_), error);
  if (port.state != IBV_PORT_ACTIVE)
    throw Error("NIC", CHIMEX_ERR_UNSUPPORTED,
                fmt::format("port {} of {} is down: check the cable and the switch (ibstat)", port_,
                            name_));
  if (options_.pkey_index >= port.pkey_tbl_len)
    throw Error("CHIME_NIC_PKEY_INDEX", CHIMEX_ERR_INVALID,
                fmt::format("port {} of {} has no partition key at index {}; indices are below {}",
                            port_, name_, options_.pkey_index, port.pkey_tbl_len));
  const bool ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
  const GidEntry gid =
      choose_gid(read_gids(context(), port_, port.gid_tbl_len), ethernet, options_.gid_index);
  gid_index_ = gid.index;
  address_ = {ethernet, static_cast<std::uint8_t>(port.active_mtu), port.lid, gid.gid};
  description_ = fmt::format("{} port {} ({}), {}, ", name_, port_, why_this_port_,
                             ethernet ? "RoCE" : "InfiniBand") +
                 (ethernet ? "GID " + describe(gid) : fmt::format("LID {}", port.lid));
}

void Device::read_capabilities() {
  ibv_device_attr attributes{};
  if (const int error = rdma_core().ibv_query_device(context(), &attributes))
    fail_nic(name_ + " cannot be queried", error);
  const int reads = std::min(attributes.max_qp_rd_atom, attributes.max_qp_init_rd_atom);
  capabilities_.reads = static_cast<unsigned>(std::clamp(reads, 1, 16));
  capabilities_.atomics = attributes.atomic_cap != IBV_ATOMIC_NONE;
  capabilities_.most_blocks = static_cast<unsigned>(attributes.max_qp_wr);
  // Facts that verbs does not give. Without DevX: as every ConnectX since 4 has it.
  capabilities_.extended_atomics = capabilities_.atomics;
  if (!has_devx()) return;
  const auto general = query_capabilities(context(), prm::query_hca_cap::kGeneral);
  const auto atomic = query_capabilities(context(), prm::query_hca_cap::kAtomic);
  if (!general || !atomic) {
    why_no_devx_ = "the firmware does not tell its capabilities";
    return;
  }
  const std::byte* general_cap = general->data() + prm::query_hca_cap::kCapability;
  const std::byte* atomic_cap = atomic->data() + prm::query_hca_cap::kCapability;
  if (prm::cap::kCqeVersion.get(general_cap) != 1)
    why_no_devx_ = "the firmware writes completions of an old form";
  if (!prm::cap::kCqOi.get(general_cap))
    why_no_devx_ = "the firmware cannot ignore completion queue overruns";
  capabilities_.most_blocks = 1u << std::min(prm::cap::kLogMaxQpSz.get(general_cap), 15u);
  capabilities_.tells_data_order =
      kHostKeepsOrder && prm::cap::kQpDataInOrder.get(general_cap) != 0;
  capabilities_.relaxed_ordering = prm::cap::kRelaxedOrderingWrite.get(general_cap);
  capabilities_.atomics = prm::cap::kAtomic.get(general_cap);
  constexpr std::uint32_t kAllForms = 0xf, kFourAndEightBytes = 0xc;
  capabilities_.extended_atomics =
      (prm::atomic_cap::kOperations.get(atomic_cap) & kAllForms) == kAllForms &&
      (prm::atomic_cap::kSizeQp.get(atomic_cap) & kFourAndEightBytes) == kFourAndEightBytes;
  capabilities_.results_8_big_endian = prm::atomic_cap::k8bEndianness.get(atomic_cap) == 0;
}

}  // namespace chime::host::mlx5
