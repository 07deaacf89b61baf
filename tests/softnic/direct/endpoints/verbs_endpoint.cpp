// Route V: ibv_create_qp and mlx5dv_init_obj.

#include <cstring>

#include "endpoint.hpp"

namespace direct {
namespace {

struct CqDeleter {
  void operator()(ibv_cq* cq) const { ibv_destroy_cq(cq); }
};
struct QpDeleter {
  void operator()(ibv_qp* qp) const { ibv_destroy_qp(qp); }
};

ibv_cq* create_cq(const Route& route, const Options& options) {
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = options.completions - 1;
  attributes.channel = options.channel;
  if (options.ignores_overrun) {
    attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    attributes.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  }
  mlx5dv_cq_init_attr dv{};
  dv.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE;
  dv.cqe_size = static_cast<std::uint16_t>(route.cqe_bytes);
  return ibv_cq_ex_to_cq(
      check(mlx5dv_create_cq(Hca::instance().context(), &attributes, &dv), "create_cq"));
}

CompletionRing ring_of(ibv_cq* cq) {
  mlx5dv_cq dv{};
  mlx5dv_obj object{};
  object.cq = {cq, &dv};
  check_zero(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ), "mlx5dv_init_obj(CQ)");
  CompletionRing ring;
  ring.ring = static_cast<std::uint8_t*>(dv.buf);
  ring.entries = dv.cqe_cnt;
  ring.entry_bytes = dv.cqe_size;
  ring.record = reinterpret_cast<std::uint32_t*>(dv.dbrec);
  return ring;
}

ibv_qp_type type_of(Service service) {
  return service == Service::kRc ? IBV_QPT_RC : service == Service::kUc ? IBV_QPT_UC : IBV_QPT_UD;
}

class VerbsEndpoint final : public Endpoint {
 public:
  VerbsEndpoint(const Route& route, const Options& options)
      : options_(options),
        send_cq_(create_cq(route, options)),
        receive_cq_(create_cq(route, options)) {
    create_qp();
    sent = ring_of(send_cq_.get());
    received = ring_of(receive_cq_.get());
    show_qp();
  }

  int to_init() override {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = 1;
    a.qp_access_flags = options_.access & ~IBV_ACCESS_LOCAL_WRITE;
    a.qkey = options_.qkey;
    const int third = is(Service::kUd) ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
    return ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | third);
  }
  int to_rtr(std::uint32_t peer) override {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = options_.path_mtu;
    a.rq_psn = options_.rq_psn;
    a.dest_qp_num = peer;
    a.max_dest_rd_atomic = static_cast<std::uint8_t>(options_.max_dest_reads);
    a.min_rnr_timer = static_cast<std::uint8_t>(options_.min_rnr_timer);
    a.ah_attr = Hca::instance().path();
    int mask = IBV_QP_STATE;
    if (!is(Service::kUd)) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (is(Service::kRc)) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return ibv_modify_qp(qp_.get(), &a, mask);
  }
  int to_rts() override {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RTS;
    a.timeout = static_cast<std::uint8_t>(options_.timeout);
    a.retry_cnt = static_cast<std::uint8_t>(options_.retry_count);
    a.rnr_retry = static_cast<std::uint8_t>(options_.rnr_retry);
    a.max_rd_atomic = static_cast<std::uint8_t>(options_.max_reads);
    a.sq_psn = options_.sq_psn;
    int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (is(Service::kRc))
      mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return ibv_modify_qp(qp_.get(), &a, mask);
  }
  int to_error() override { return to(IBV_QPS_ERR); }
  // libmlx5 zeroes the records and cleans the completion queues.
  int to_reset() override {
    const int error = to(IBV_QPS_RESET);
    if (!error) sends.next = receives.next = 0;
    return error;
  }
  unsigned state() override {
    ibv_qp_attr a{};
    ibv_qp_init_attr unused{};
    check_zero(ibv_query_qp(qp_.get(), &a, IBV_QP_STATE, &unused), "ibv_query_qp");
    return a.qp_state;
  }

  ibv_qp* verbs_qp() override { return qp_.get(); }
  ibv_cq* verbs_send_cq() override { return send_cq_.get(); }
  ibv_cq* verbs_receive_cq() override { return receive_cq_.get(); }

 private:
  bool is(Service service) const { return options_.service == service; }
  int to(ibv_qp_state state) {
    ibv_qp_attr a{};
    a.qp_state = state;
    return ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE);
  }

  void create_qp() {
    ibv_qp_init_attr_ex a{};
    a.send_cq = send_cq_.get();
    a.recv_cq = receive_cq_.get();
    a.srq = options_.srq;
    a.cap.max_send_wr = options_.send_blocks;
    a.cap.max_recv_wr = options_.srq ? 0 : options_.receives;
    a.cap.max_send_sge = 1;
    a.cap.max_inline_data = options_.inline_bytes;
    a.cap.max_recv_sge = options_.receive_pieces;
    a.qp_type = type_of(options_.service);
    a.comp_mask = IBV_QP_INIT_ATTR_PD;
    a.pd = Hca::instance().pd();
    mlx5dv_qp_init_attr dv{};
    dv.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
    dv.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE;
    qp_.reset(check(mlx5dv_create_qp(Hca::instance().context(), &a, &dv), "mlx5dv_create_qp"));
  }

  void show_qp() {
    mlx5dv_qp dv{};
    mlx5dv_obj object{};
    object.qp = {qp_.get(), &dv};
    check_zero(mlx5dv_init_obj(&object, MLX5DV_OBJ_QP), "mlx5dv_init_obj(QP)");
    auto* records = reinterpret_cast<std::uint32_t*>(dv.dbrec);
    sends.ring = static_cast<std::uint8_t*>(dv.sq.buf);
    sends.blocks = dv.sq.wqe_cnt;
    sends.record = records + 1;
    sends.doorbell = static_cast<std::uint64_t*>(dv.bf.reg);
    sends.qpn = qp_->qp_num;
    receives.ring = static_cast<std::uint8_t*>(dv.rq.buf);
    receives.entries = dv.rq.wqe_cnt;
    receives.stride = dv.rq.stride;
    receives.record = records;
  }

  Options options_;
  std::unique_ptr<ibv_cq, CqDeleter> send_cq_, receive_cq_;
  std::unique_ptr<ibv_qp, QpDeleter> qp_;
};

}  // namespace

std::unique_ptr<Endpoint> make_verbs_endpoint(const Route& route, const Options& options) {
  return std::make_unique<VerbsEndpoint>(route, options);
}

}  // namespace direct
