#include "host/transport/mlx5/queues/mlx5_qp.hpp"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "chime/abi/wqe.h"
#include "host/errors/error.hpp"
#include "host/transport/mlx5/queues/mlx5_route.hpp"

namespace chime::host::mlx5 {
namespace {

constexpr std::size_t kBlock = 64;
constexpr unsigned kSendRecord = 1;        // of the two words of a doorbell record
constexpr std::uint8_t kMinRnrTimer = 12;  // nobody posts receives here
constexpr std::uint8_t kRnrRetry = 7;

// A ring needs at least twice the send queue: kernels that poll late must still tell an entry of
// this lap from one of the last.
constexpr unsigned completions_for(unsigned blocks) { return 2 * blocks; }

extern "C" void* chime_mlx5_take(ibv_pd*, void* slab, std::size_t bytes, std::size_t alignment,
                                 std::uint64_t) {
  return static_cast<Slab*>(slab)->take(bytes, alignment);
}
extern "C" void chime_mlx5_give_back(ibv_pd*, void*, void*, std::uint64_t) {}

// Each queue pair rings a register of its own: stores of several queue pairs to one can be lost.
constexpr char kFewerQueuePairs[] =
    "each queue pair takes one; CHIME_NIC_SLOTS says how many go to each peer";

// A doorbell register, and objects whose memory comes from the slab. Parent domains are
// protection domains to verbs.
struct Domain {
  ThreadDomain thread;
  ProtectionDomain parent;
};

Domain make_domain(const Device& device, Slab& slab) {
  Domain domain;
  ibv_td_init_attr thread_attributes{};
  device_activity::allocates("ibv_alloc_td");
  domain.thread.reset(::ibv_alloc_td(device.context(), &thread_attributes));
  if (!domain.thread) fail_nic("no doorbell register can be had", errno, kFewerQueuePairs);
  ibv_parent_domain_init_attr attributes{};
  attributes.pd = device.pd();
  attributes.td = domain.thread.get();
  attributes.comp_mask =
      IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
  attributes.alloc = chime_mlx5_take;
  attributes.free = chime_mlx5_give_back;
  attributes.pd_context = &slab;
  domain.parent.reset(::ibv_alloc_parent_domain(device.context(), &attributes));
  if (!domain.parent) fail_nic("no parent domain can be made", errno);
  return domain;
}

// `domain`: a parent domain whose allocator gives the memory, or null for memory of libmlx5's own.
VerbsCq make_cq(const Device& device, ibv_pd* domain, unsigned entries) {
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = entries - 1;  // one more is made, and the sum rounded up to a power of two
  attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  attributes.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;  // nobody tells the NIC what was taken
  if (domain) {
    attributes.comp_mask |= IBV_CQ_INIT_ATTR_MASK_PD;
    attributes.parent_domain = domain;
  }
  mlx5dv_cq_init_attr form{};
  form.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE;
  form.cqe_size = kBlock;
  ibv_cq_ex* cq = rdma_core().mlx5dv_create_cq(device.context(), &attributes, &form);
  if (!cq) fail_nic(fmt::format("a completion queue of {} entries cannot be made", entries), errno);
  return VerbsCq(::ibv_cq_ex_to_cq(cq));
}

// Null with errno set if verbs refuses.
VerbsQp try_make_qp(const Device& device, ibv_pd* domain, ibv_cq* cq, unsigned requests) {
  ibv_qp_init_attr_ex attributes{};
  attributes.send_cq = attributes.recv_cq = cq;
  attributes.cap.max_send_wr = requests;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_inline_data = abi::kMostInline;
  attributes.qp_type = IBV_QPT_RC;
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
  attributes.pd = domain;
  mlx5dv_qp_init_attr form{};
  form.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
  // Results go where the request says, never into the completion.
  form.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE;
  return VerbsQp(rdma_core().mlx5dv_create_qp(device.context(), &attributes, &form));
}

mlx5dv_qp layout_of(ibv_qp* qp) {
  mlx5dv_qp layout{};
  mlx5dv_obj object{};
  object.qp = {qp, &layout};
  if (const int error = rdma_core().mlx5dv_init_obj(&object, MLX5DV_OBJ_QP))
    fail_nic("libmlx5 does not tell where a queue lies", error);
  return layout;
}

mlx5dv_cq layout_of(ibv_cq* cq) {
  mlx5dv_cq layout{};
  mlx5dv_obj object{};
  object.cq = {cq, &layout};
  if (const int error = rdma_core().mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ))
    fail_nic("libmlx5 does not tell where a completion queue lies", error);
  return layout;
}

// Verbs counts requests of the largest form and rounds up: how many to ask for to get `blocks`.
// Found by asking once, with memory of libmlx5's own.
unsigned requests_for(const Device& device, unsigned blocks) {
  const VerbsCq cq = make_cq(device, nullptr, 2);
  constexpr unsigned kProbe = 16;
  const VerbsQp probe = try_make_qp(device, device.pd(), cq.get(), kProbe);
  if (!probe) fail_nic("a queue pair cannot be made", errno);
  const unsigned got = layout_of(probe.get()).sq.wqe_cnt;
  return std::max(1u, static_cast<unsigned>(std::uint64_t{kProbe} * blocks / got));
}

class VerbsQueuePair final : public QueuePair {
 public:
  VerbsQueuePair(const Device& device, Domain domain, Doorbells& doorbells, unsigned blocks,
                 unsigned requests)
      : device_(device),
        domain_(std::move(domain)),
        cq_(make_cq(device, domain_.parent.get(), completions_for(blocks))),
        qp_(try_make_qp(device, domain_.parent.get(), cq_.get(), requests)) {
    if (!qp_)
      fail_nic(fmt::format("a queue pair of {} blocks cannot be made", blocks), errno,
               "CHIME_QP_DEPTH and CHIME_NIC_SLOTS decide how much the NIC must hold");
    describe(doorbells, blocks);
    to_init();
  }

  const QueuePairView& view() const override { return view_; }

  void connect(const Route& route) override {
    to_ready_to_receive(route);
    to_ready_to_send(route);
  }

  DataOrder data_order() override {
    const auto query = rdma_core().ibv_query_qp_data_in_order;
    if (query == nullptr || !device_.capabilities().tells_data_order) return DataOrder::kUnknown;
    const bool is_in_order = query(qp_.get(), IBV_WR_RDMA_WRITE, 0) == 1;
    return is_in_order ? DataOrder::kInOrder : DataOrder::kAnyOrder;
  }

  void to_error() override {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    modify(attributes, IBV_QP_STATE, "error");
  }

 private:
  void describe(Doorbells& doorbells, unsigned blocks) {
    const mlx5dv_qp qp = layout_of(qp_.get());
    const mlx5dv_cq cq = layout_of(cq_.get());
    if (qp.sq.wqe_cnt != blocks || qp.sq.stride != kBlock || cq.cqe_size != kBlock ||
        !std::has_single_bit(cq.cqe_cnt) || cq.cqe_cnt < completions_for(blocks))
      throw Error("NIC", CHIMEX_ERR_UNSUPPORTED,
                  fmt::format("libmlx5 made a send queue of {} blocks of {} bytes and {} "
                              "completions of {} bytes, where {} blocks and {} completions of 64 "
                              "were asked for",
                              qp.sq.wqe_cnt, qp.sq.stride, cq.cqe_cnt, cq.cqe_size, blocks,
                              completions_for(blocks)));
    std::memset(cq.buf, 0xff, std::size_t{cq.cqe_cnt} * cq.cqe_size);
    view_.send_queue = static_cast<std::byte*>(qp.sq.buf);
    view_.log2_blocks = static_cast<unsigned>(std::countr_zero(blocks));
    view_.send_record = reinterpret_cast<std::uint32_t*>(qp.dbrec) + kSendRecord;
    view_.doorbell = doorbells.map(qp.bf.reg);
    view_.completions = static_cast<std::byte*>(cq.buf);
    view_.log2_completions = static_cast<unsigned>(std::countr_zero(cq.cqe_cnt));
    view_.mode = CompletionMode::kRing;
    view_.qpn = qp_->qp_num;
  }

  void modify(ibv_qp_attr& attributes, int mask, const char* state) {
    if (const int error = rdma_core().ibv_modify_qp(qp_.get(), &attributes, mask))
      fail_nic(fmt::format("queue pair {:#x} cannot be moved to {}", qp_->qp_num, state), error,
               "CHIME_NIC_GID_INDEX, CHIME_NIC_PKEY_INDEX and CHIME_NIC_SL must fit the fabric");
  }

  void to_init() {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = device_.port();
    attributes.pkey_index = static_cast<std::uint16_t>(device_.options().pkey_index);
    attributes.qp_access_flags =
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    modify(attributes, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS,
           "init");
  }

  void to_ready_to_receive(const Route& route) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    attributes.ah_attr = address_of(device_, route);
    attributes.path_mtu = static_cast<ibv_mtu>(common_mtu(device_, route));
    attributes.dest_qp_num = route.remote_qpn;
    attributes.rq_psn = route.receive_psn;
    attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(route.reads);
    attributes.min_rnr_timer = kMinRnrTimer;
    modify(attributes,
           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
           "ready to receive");
  }

  void to_ready_to_send(const Route& route) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTS;
    attributes.timeout = static_cast<std::uint8_t>(device_.options().timeout);
    attributes.retry_cnt = static_cast<std::uint8_t>(device_.options().retry);
    attributes.rnr_retry = kRnrRetry;
    attributes.sq_psn = route.send_psn;
    attributes.max_rd_atomic = static_cast<std::uint8_t>(route.reads);
    modify(attributes,
           IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
               IBV_QP_MAX_QP_RD_ATOMIC,
           "ready to send");
  }

  const Device& device_;
  Domain domain_;
  VerbsCq cq_;
  VerbsQp qp_;
  QueuePairView view_;
};

class VerbsBackend final : public Backend {
 public:
  VerbsBackend(const Device& device, Slab& slab, Doorbells& doorbells)
      : device_(device),
        slab_(slab),
        doorbells_(doorbells),
        blocks_(device.options().queue_depth),
        requests_(requests_for(device, blocks_)) {}

  const char* name() const override { return "verbs"; }

  std::unique_ptr<QueuePair> make_queue_pair() override {
    return std::make_unique<VerbsQueuePair>(device_, make_domain(device_, slab_), doorbells_,
                                            blocks_, requests_);
  }

 private:
  const Device& device_;
  Slab& slab_;
  Doorbells& doorbells_;
  const unsigned blocks_;
  const unsigned requests_;
};

}  // namespace

std::size_t verbs_bytes(unsigned blocks) {
  // Two queues and two records; each may lose as much to its alignment, which libmlx5 lets grow
  // with the queue: a page, or a 64th of it.
  constexpr std::size_t kPage = 4096;
  return (std::size_t{blocks} + completions_for(blocks)) * kBlock +
         4 * std::max<std::size_t>(kPage, completions_for(blocks));
}

std::unique_ptr<Backend> make_verbs_backend(const Device& device, Slab& slab,
                                            Doorbells& doorbells) {
  return std::make_unique<VerbsBackend>(device, slab, doorbells);
}

}  // namespace chime::host::mlx5
