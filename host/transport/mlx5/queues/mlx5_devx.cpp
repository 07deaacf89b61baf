#include "host/transport/mlx5/queues/mlx5_devx.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "host/errors/error.hpp"
#include "host/transport/mlx5/nic/prm.hpp"
#include "host/transport/mlx5/queues/mlx5_route.hpp"
#include "host/transport/mlx5/queues/mlx5_umem.hpp"

namespace chime::host::mlx5 {
namespace {

constexpr std::size_t kPage = Slab::kPage;
constexpr std::size_t kBlock = 64;
constexpr std::uint32_t kNoUserIndex = 0xffffff;

// Offsets in a queue pair's memory, before the send queue in the pages behind.
constexpr std::size_t kCompletionAt = 0;
constexpr std::size_t kCqRecordAt = Slab::kLine;
constexpr std::size_t kQpRecordAt = 2 * Slab::kLine;
constexpr std::size_t kSendQueueAt = kPage;
constexpr std::size_t kSendRecord = 1;  // of the two words of a doorbell record

constexpr std::uint32_t kLogLongestMessage = 30;
constexpr std::uint32_t kMinRnrTimer = 12;
constexpr std::uint32_t kRnrRetry = 7;

using Mailbox = std::array<std::byte, prm::qp_in::kInBytes>;
using Answer = std::array<std::byte, prm::command::kBytes>;

// Reports the firmware's refusal; errno when it was not asked.
[[noreturn]] void fail_command(const char* what, const Answer& answer, int error_number) {
  fail_nic(fmt::format("{} is refused (firmware status {:#x}, syndrome {:#x})", what,
                       prm::command::kStatus.get(answer.data()),
                       prm::command::kSyndrome.get(answer.data())),
           error_number, "CHIME_NIC_BACKEND=verbs does without firmware commands");
}

struct Created {
  DevxObject object;
  std::uint32_t number;
};

Created create(const Device& device, const char* what, const Mailbox& in) {
  Answer out{};
  DevxObject object(rdma_core().mlx5dv_devx_obj_create(device.context(), in.data(), in.size(),
                                                       out.data(), out.size()));
  if (!object) fail_command(what, out, errno);
  return {std::move(object), prm::command::kObject.get(out.data())};
}

// A page whose stores go out one by one, if this rdma-core has them; else one that may combine.
// Each queue pair rings a page of its own: stores of several queue pairs to one page can be lost.
DevxUar make_doorbell(const Device& device) {
  constexpr std::uint32_t kNonCachedDedicated = 1u << 31;  // rdma-core 46 and newer
  DevxUar uar;
  for (const std::uint32_t type : {kNonCachedDedicated, std::uint32_t{MLX5DV_UAR_ALLOC_TYPE_BF},
                                   std::uint32_t{MLX5DV_UAR_ALLOC_TYPE_NC}}) {
    uar.reset(rdma_core().mlx5dv_devx_alloc_uar(device.context(), type));
    if (uar) return uar;
  }
  fail_nic("no doorbell register can be had", errno,
           "each queue pair takes one; CHIME_NIC_SLOTS says how many go to each peer");
}

// The state that all queue pairs of the backend share.
struct Common {
  const Device& device;
  Slab& slab;
  Doorbells& pages;
  DevxUmem umem;
  std::uint32_t pd = 0;
  std::uint32_t event_queue = 0;
};

std::uint32_t pd_number(const Device& device) {
  mlx5dv_pd layout{};
  mlx5dv_obj object{};
  object.pd = {device.pd(), &layout};
  if (const int error = rdma_core().mlx5dv_init_obj(&object, MLX5DV_OBJ_PD))
    fail_nic("libmlx5 does not tell a protection domain's number", error);
  return layout.pdn;
}

Common make_common(const Device& device, Slab& slab, Doorbells& pages) {
  Common common{device, slab, pages, make_umem(device, slab), pd_number(device), 0};
  if (const int error = rdma_core().mlx5dv_devx_query_eqn(device.context(), 0, &common.event_queue))
    fail_nic("the NIC tells no event queue", error);
  return common;
}

Created create_cq(const Common& common, std::uint64_t at, std::uint32_t uar) {
  Mailbox in{};
  prm::command::kOpcode.set(in.data(), prm::kCreateCq);
  prm::create_cq::kUmemOffset.set(in.data(), at + kCompletionAt);
  prm::create_cq::kUmemId.set(in.data(), common.umem->umem_id);
  prm::create_cq::kUmemValid.set(in.data(), 1);
  std::byte* context = in.data() + prm::create_cq::kContext;
  prm::cqc::kCollapsed.set(context, 1);
  prm::cqc::kOverrunIgnore.set(context, 1);
  prm::cqc::kLogCqSize.set(context, 0);
  prm::cqc::kUarPage.set(context, uar);
  prm::cqc::kEqn.set(context, common.event_queue);
  prm::cqc::kDbrUmemValid.set(context, 1);
  prm::cqc::kDbrUmemId.set(context, common.umem->umem_id);
  prm::cqc::kDbrAddress.set(context, at + kCqRecordAt);
  return create(common.device, "a completion queue", in);
}

Created create_qp(const Common& common, std::uint64_t at, std::uint32_t uar, std::uint32_t cqn) {
  Mailbox in{};
  prm::command::kOpcode.set(in.data(), prm::kCreateQp);
  prm::qp_in::kUmemOffset.set(in.data(), at + kSendQueueAt);
  prm::qp_in::kUmemId.set(in.data(), common.umem->umem_id);
  prm::qp_in::kUmemValid.set(in.data(), 1);
  std::byte* context = in.data() + prm::qp_in::kContext;
  const unsigned depth = common.device.options().queue_depth;
  prm::qpc::kPathMigration.set(context, prm::qpc::kMigrated);
  prm::qpc::kPd.set(context, common.pd);
  prm::qpc::kLogSqSize.set(context, static_cast<std::uint32_t>(std::countr_zero(depth)));
  prm::qpc::kUarPage.set(context, uar);
  prm::qpc::kUserIndex.set(context, kNoUserIndex);
  prm::qpc::kSendCqn.set(context, cqn);
  prm::qpc::kReceiveCqn.set(context, cqn);
  prm::qpc::kRqType.set(context, prm::qpc::kRqZeroSize);
  prm::qpc::kDbrUmemValid.set(context, 1);
  prm::qpc::kDbrUmemId.set(context, common.umem->umem_id);
  prm::qpc::kDbrAddress.set(context, at + kQpRecordAt);
  return create(common.device, "a queue pair", in);
}

// The neighbour's Ethernet address, which the kernel resolves for address handles.
std::array<std::byte, 6> resolve_mac(const Device& device, const Route& route) {
  ibv_ah_attr address = address_of(device, route);
  const AddressHandle handle(rdma_core().ibv_create_ah(device.pd(), &address));
  if (!handle)
    fail_nic("the peer's Ethernet address cannot be resolved", errno,
             "the NIC's network interface needs a route to the peer's address (ip route get)");
  mlx5dv_ah layout{};
  mlx5dv_obj object{};
  object.ah = {handle.get(), &layout};
  if (const int error = rdma_core().mlx5dv_init_obj(&object, MLX5DV_OBJ_AH))
    fail_nic("libmlx5 does not tell an address handle's content", error);
  std::array<std::byte, 6> mac;
  std::memcpy(mac.data(), layout.av->rmac, mac.size());
  return mac;
}

// Switches spread connections over parallel links by this port, which RoCE v2 keeps above 0xc000.
std::uint32_t udp_source_port(std::uint32_t local_qpn, std::uint32_t remote_qpn) {
  std::uint32_t mixed = local_qpn * remote_qpn;
  mixed ^= mixed >> 20 ^ mixed >> 10;
  return 0xc000 | (mixed & 0x3fff);
}

// The number of reads in flight is given as a power of two.
std::uint32_t log2_floor(unsigned value) {
  return static_cast<std::uint32_t>(std::bit_width(value) - 1);
}

class DevxQueuePair final : public QueuePair {
 public:
  explicit DevxQueuePair(const Common& common)
      : device_(common.device), doorbell_(make_doorbell(device_)) {
    const unsigned depth = device_.options().queue_depth;
    std::byte* memory = common.slab.take(devx_bytes(depth), kPage);
    if (!memory)
      throw Error("NIC", CHIMEX_ERR_SYSTEM, "the queue memory is smaller than its queues");
    common.slab.fill(memory + kCompletionAt, 0xff, kBlock);
    const auto at = static_cast<std::uint64_t>(memory - common.slab.address());
    Created cq = create_cq(common, at, doorbell_->page_id);
    cq_ = std::move(cq.object);
    Created qp = create_qp(common, at, doorbell_->page_id, cq.number);
    qp_ = std::move(qp.object);
    view_.send_queue = memory + kSendQueueAt;
    view_.log2_blocks = static_cast<unsigned>(std::countr_zero(depth));
    view_.send_record = reinterpret_cast<std::uint32_t*>(memory + kQpRecordAt) + kSendRecord;
    view_.doorbell = common.pages.map(doorbell_->reg_addr);
    view_.completions = memory + kCompletionAt;
    view_.log2_completions = 0;
    view_.mode = CompletionMode::kCollapsed;
    view_.qpn = qp.number;
    to_init();
  }

  const QueuePairView& view() const override { return view_; }

  void connect(const Route& route) override {
    to_ready_to_receive(route);
    to_ready_to_send(route);
  }

  DataOrder data_order() override {
    if (!device_.capabilities().tells_data_order) return DataOrder::kUnknown;
    std::array<std::byte, prm::command::kBytes> in{};
    std::array<std::byte, prm::query_qp::kOutBytes> out{};
    prm::command::kOpcode.set(in.data(), prm::kQueryQp);
    prm::command::kObject.set(in.data(), view_.qpn);
    if (rdma_core().mlx5dv_devx_obj_query(qp_.get(), in.data(), in.size(), out.data(),
                                          out.size()) != 0)
      return DataOrder::kUnknown;
    const bool is_in_order = prm::qpc::kDataInOrder.get(out.data() + prm::query_qp::kContext) != 0;
    return is_in_order ? DataOrder::kInOrder : DataOrder::kAnyOrder;
  }

  void to_error() override {
    modify(prm::kQp2Err, "error", [](std::byte*) {});
  }

 private:
  template <class Fill>
  void modify(prm::Command command, const char* state, Fill fill) {
    Mailbox in{};
    Answer out{};
    prm::command::kOpcode.set(in.data(), command);
    prm::command::kObject.set(in.data(), view_.qpn);
    fill(in.data() + prm::qp_in::kContext);
    if (rdma_core().mlx5dv_devx_obj_modify(qp_.get(), in.data(), in.size(), out.data(),
                                           out.size()) != 0) {
      const int error = errno;
      fail_command(fmt::format("moving queue pair {:#x} to {}", view_.qpn, state).c_str(), out,
                   error);
    }
  }

  void to_init() {
    modify(prm::kRst2Init, "init", [&](std::byte* context) {
      prm::qpc::kPathMigration.set(context, prm::qpc::kMigrated);
      prm::path::kPort.set(context, device_.port());
      prm::path::kPkeyIndex.set(context, device_.options().pkey_index);
      prm::qpc::kRemoteRead.set(context, 1);
      prm::qpc::kRemoteWrite.set(context, 1);
      prm::qpc::kRemoteAtomic.set(context, 1);
      prm::qpc::kAtomicMode.set(context, prm::qpc::kAtomicsTo64Bits);
    });
  }

  void to_ready_to_receive(const Route& route) {
    modify(prm::kInit2Rtr, "ready to receive", [&](std::byte* context) {
      prm::qpc::kMtu.set(context, common_mtu(device_, route));
      prm::qpc::kLogMessageMax.set(context, kLogLongestMessage);
      prm::qpc::kRemoteQpn.set(context, route.remote_qpn);
      prm::qpc::kMinRnrNak.set(context, kMinRnrTimer);
      prm::qpc::kNextReceivePsn.set(context, route.receive_psn);
      prm::qpc::kLogReceiveReads.set(context, log2_floor(route.reads));
      prm::path::kPort.set(context, device_.port());
      if (device_.address().ethernet)
        fill_roce_path(context, route);
      else
        fill_infiniband_path(context, route);
    });
  }

  void fill_infiniband_path(std::byte* context, const Route& route) {
    const ibv_ah_attr address = address_of(device_, route);
    prm::path::kRemoteLid.set(context, address.dlid);
    prm::path::kServiceLevel.set(context, address.sl);
    if (address.is_global) fill_global_route(context, address);
  }

  void fill_roce_path(std::byte* context, const Route& route) {
    const ibv_ah_attr address = address_of(device_, route);
    fill_global_route(context, address);
    const auto mac = resolve_mac(device_, route);
    std::memcpy(context + prm::path::kRemoteMac, mac.data(), mac.size());
    prm::path::kEthernetPriority.set(context, address.sl);
    prm::path::kDscp.set(context, address.grh.traffic_class >> 2);
    prm::path::kUdpSourcePort.set(context, udp_source_port(view_.qpn, route.remote_qpn));
  }

  static void fill_global_route(std::byte* context, const ibv_ah_attr& address) {
    prm::path::kGrh.set(context, 1);
    prm::path::kSourceGidIndex.set(context, address.grh.sgid_index);
    prm::path::kHopLimit.set(context, address.grh.hop_limit);
    prm::path::kTrafficClass.set(context, address.grh.traffic_class);
    std::memcpy(context + prm::path::kRemoteGid, address.grh.dgid.raw, sizeof(Gid));
  }

  void to_ready_to_send(const Route& route) {
    modify(prm::kRtr2Rts, "ready to send", [&](std::byte* context) {
      prm::qpc::kLogSendReads.set(context, log2_floor(route.reads));
      prm::qpc::kNextSendPsn.set(context, route.send_psn);
      prm::qpc::kRetryCount.set(context, device_.options().retry);
      prm::qpc::kRnrRetry.set(context, kRnrRetry);
      prm::path::kAckTimeout.set(context, device_.options().timeout);
    });
  }

  const Device& device_;
  DevxUar doorbell_;
  DevxObject cq_, qp_;
  QueuePairView view_;
};

class DevxBackend final : public Backend {
 public:
  DevxBackend(const Device& device, Slab& slab, Doorbells& pages)
      : common_(make_common(device, slab, pages)) {}

  const char* name() const override { return "devx"; }

  std::unique_ptr<QueuePair> make_queue_pair() override {
    return std::make_unique<DevxQueuePair>(common_);
  }

 private:
  Common common_;
};

}  // namespace

std::size_t devx_bytes(unsigned blocks) { return kSendQueueAt + std::size_t{blocks} * kBlock; }

std::unique_ptr<Backend> make_devx_backend(const Device& device, Slab& slab, Doorbells& doorbells) {
  return std::make_unique<DevxBackend>(device, slab, doorbells);
}

}  // namespace chime::host::mlx5
