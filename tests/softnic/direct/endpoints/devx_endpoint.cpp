#include "devx_endpoint.hpp"

#include <bit>
#include <cerrno>

namespace direct {
namespace {

constexpr unsigned kQpRecord = 0, kSendCqRecord = 64,
                   kReceiveCqRecord = 128;  // cache lines of the record page
constexpr unsigned kReceiveStride = 64;
constexpr unsigned kPageShift = 12;

unsigned log2(unsigned power) {
  return static_cast<unsigned>(std::countr_zero(std::bit_ceil(power)));
}

unsigned service_number(Service service) {
  return service == Service::kRc ? 0 : service == Service::kUc ? 1 : 3;
}

}  // namespace

QueueMemory::QueueMemory(std::size_t bytes) {
  bytes = (bytes + 4095) / 4096 * 4096;
  memory.reset(std::aligned_alloc(4096, bytes));
  base = static_cast<std::uint8_t*>(memory.get());
  std::memset(base, 0, bytes);
  umem.reset(
      check(mlx5dv_devx_umem_reg(Hca::instance().context(), base, bytes, IBV_ACCESS_LOCAL_WRITE),
            "mlx5dv_devx_umem_reg"));
}

DevxEndpoint::DevxEndpoint(const Route& route, const Options& options)
    : options_(options),
      uar_(check(mlx5dv_devx_alloc_uar(Hca::instance().context(), MLX5DV_UAR_ALLOC_TYPE_BF),
                 "alloc_uar")),
      records_(4096),
      send_ring_(std::size_t{options.completions} * route.cqe_bytes),
      receive_ring_(std::size_t{options.completions} * route.cqe_bytes),
      queues_(std::bit_ceil(options.receives) * std::size_t{kReceiveStride} +
              options.send_blocks * 64ull) {
  check_zero(mlx5dv_devx_query_eqn(Hca::instance().context(), 0, &eqn_), "query_eqn");
  sent.record = reinterpret_cast<std::uint32_t*>(records_.base + kSendCqRecord);
  received.record = reinterpret_cast<std::uint32_t*>(records_.base + kReceiveCqRecord);
  send_cq_ = create_cq(route, route.collapsed, sent, send_ring_, send_cqn_);
  receive_cq_ = create_cq(route, false, received, receive_ring_, receive_cqn_);
  create_qp();
}

Owned<mlx5dv_devx_obj> DevxEndpoint::create_cq(const Route& route, bool collapsed,
                                               CompletionRing& ring, QueueMemory& memory,
                                               std::uint32_t& cqn) {
  ring.ring = memory.base;
  ring.entries = options_.completions;
  ring.entry_bytes = route.cqe_bytes;
  ring.collapsed = collapsed;
  std::memset(memory.base, 0xff, std::size_t{options_.completions} * route.cqe_bytes);
  Command in;
  in.set(cmd::kOpcode, cmd::kCreateCq)
      .set(cqf::kUmemId, memory.id())
      .set(cqf::kUmemValid, 1)
      .set64(cqf::kDbrAddr, static_cast<std::uint64_t>(
                                reinterpret_cast<std::uint8_t*>(ring.record) - records_.base))
      .set(cqf::kDbrUmemValid, 1, cqf::kContext)
      .set(cqf::kDbrUmemId, records_.id(), cqf::kContext)
      .set(cqf::kCqeSize, route.cqe_bytes == 128, cqf::kContext)
      .set(cqf::kCollapsed, collapsed, cqf::kContext)
      .set(cqf::kOi, collapsed || options_.ignores_overrun, cqf::kContext)
      .set(cqf::kLogSize, log2(options_.completions), cqf::kContext)
      .set(cqf::kUarPage, uar_->page_id, cqf::kContext)
      .set(cqf::kEqn, eqn_, cqf::kContext)
      .set(cqf::kLogPage, 0, cqf::kContext);
  Owned<mlx5dv_devx_obj> object(
      check(mlx5dv_devx_obj_create(Hca::instance().context(), in.bytes.data(), in.bytes.size(),
                                   answer_.bytes.data(), answer_.bytes.size()),
            "CREATE_CQ"));
  cqn = answer_.get(cmd::kNumber);
  return object;
}

void DevxEndpoint::create_qp() {
  const unsigned receive_entries = std::bit_ceil(options_.receives);
  const bool own_receives = !options_.srq && options_.receives != 0;
  Command in;
  in.set(cmd::kOpcode, cmd::kCreateQp)
      .set(qpf::kUmemId, queues_.id())
      .set(qpf::kUmemValid, 1)
      .set64(qpf::kDbrAddr, kQpRecord)
      .set(qpf::kService, service_number(options_.service), qpf::kContext)
      .set(qpf::kPmState, 3, qpf::kContext)
      .set(qpf::kPd, Hca::instance().pdn(), qpf::kContext)
      .set(qpf::kLogSqSize, log2(options_.send_blocks), qpf::kContext)
      .set(qpf::kUarPage, uar_->page_id, qpf::kContext)
      .set(qpf::kUserIndex, options_.user_index, qpf::kContext)
      .set(qpf::kCqnSnd, send_cqn_, qpf::kContext)
      .set(qpf::kCqnRcv, receive_cqn_, qpf::kContext)
      .set(qpf::kDbrUmemValid, 1, qpf::kContext)
      .set(qpf::kDbrUmemId, records_.id(), qpf::kContext)
      .set(qpf::kRqType,
           options_.srq   ? 1
           : own_receives ? 0
                          : 3,
           qpf::kContext);
  if (own_receives)
    in.set(qpf::kLogRqSize, log2(receive_entries), qpf::kContext)
        .set(qpf::kLogRqStride, log2(kReceiveStride) - 4, qpf::kContext);
  if (options_.srq) {
    std::uint32_t srqn = 0;
    check_zero(ibv_get_srq_num(options_.srq, &srqn), "ibv_get_srq_num");
    in.set(qpf::kSrqn, srqn, qpf::kContext);
  }
  qp_.reset(
      check(mlx5dv_devx_obj_create(Hca::instance().context(), in.bytes.data(), in.bytes.size(),
                                   answer_.bytes.data(), answer_.bytes.size()),
            "CREATE_QP"));
  auto* records = reinterpret_cast<std::uint32_t*>(records_.base + kQpRecord);
  receives.ring = queues_.base;
  receives.entries = own_receives ? receive_entries : 0;
  receives.stride = kReceiveStride;
  receives.record = records;
  sends.ring = queues_.base + receives.entries * std::size_t{kReceiveStride};
  sends.blocks = options_.send_blocks;
  sends.record = records + 1;
  sends.doorbell = static_cast<std::uint64_t*>(uar_->reg_addr);
  sends.qpn = answer_.get(cmd::kNumber);
}

Command DevxEndpoint::command(std::uint32_t opcode) const {
  Command in;
  in.set(cmd::kOpcode, opcode).set(cmd::kNumber, qpn());
  return in;
}

int DevxEndpoint::modify(const Command& in) {
  return mlx5dv_devx_obj_modify(qp_.get(), in.bytes.data(), in.bytes.size(), answer_.bytes.data(),
                                answer_.bytes.size());
}

int DevxEndpoint::to_init() {
  return modify(command(cmd::kRst2Init)
                    .set(qpf::kPort, 1, qpf::kContext)
                    .set(qpf::kPmState, 3, qpf::kContext)
                    .set(qpf::kQkey, options_.qkey, qpf::kContext)
                    .set(qpf::kAtomicMode, 3, qpf::kContext)
                    .set(qpf::kRwe, !!(options_.access & IBV_ACCESS_REMOTE_WRITE), qpf::kContext)
                    .set(qpf::kRre, !!(options_.access & IBV_ACCESS_REMOTE_READ), qpf::kContext)
                    .set(qpf::kRae, !!(options_.access & IBV_ACCESS_REMOTE_ATOMIC), qpf::kContext));
}

int DevxEndpoint::to_rtr(std::uint32_t peer) {
  const Hca& hca = Hca::instance();
  Command in = command(cmd::kInit2Rtr)
                   .set(qpf::kMtu, 5, qpf::kContext)
                   .set(qpf::kLogMsgMax, 30, qpf::kContext)
                   .set(qpf::kRemoteQpn, peer, qpf::kContext)
                   .set(qpf::kMinRnrNak, options_.min_rnr_timer, qpf::kContext)
                   .set(qpf::kLogRraMax, 4, qpf::kContext);
  if (!hca.is_ethernet()) {
    in.set(qpf::kRlid, hca.port().lid, qpf::kContext);
    return modify(in);
  }
  const std::vector<std::uint8_t> vector =
      hca.address_vector();  // from byte 12 of struct mlx5_wqe_av
  const std::uint8_t* rmac = &vector[8];
  in.set(qpf::kRmacHigh, rmac[0] << 8u | rmac[1], qpf::kContext)
      .set(qpf::kRmacLow, std::uint32_t{rmac[2]} << 24 | rmac[3] << 16u | rmac[4] << 8u | rmac[5],
           qpf::kContext)
      .set(qpf::kSrcAddrIndex, hca.gid_index(), qpf::kContext)
      .set(qpf::kHopLimit, 255, qpf::kContext)
      .set(qpf::kUdpSport, 0xc000, qpf::kContext);
  std::memcpy(&in.bytes[qpf::kContext + qpf::kRgid], hca.gid().raw, 16);
  return modify(in);
}

int DevxEndpoint::to_rts() {
  return modify(command(cmd::kRtr2Rts)
                    .set(qpf::kLogSraMax, log2(options_.max_reads), qpf::kContext)
                    .set(qpf::kRetryCount, options_.retry_count, qpf::kContext)
                    .set(qpf::kRnrRetry, options_.rnr_retry, qpf::kContext)
                    .set(qpf::kAckTimeout, options_.timeout, qpf::kContext));
}

// The firmware resets its own state only: the rings' owner resets them.
int DevxEndpoint::to_reset() {
  const int error = modify(command(cmd::k2Rst));
  if (error) return error;
  sends.next = receives.next = 0;
  sends.record[0] = receives.record[0] = 0;
  if (sent.collapsed) {
    std::memset(sent.ring, 0xff, sent.entry_bytes);
    sent.last_word = ~0u;
  }
  return 0;
}

unsigned DevxEndpoint::state() {
  const Command in = command(cmd::kQueryQp);
  Mailbox<512> out;
  check_zero(
      mlx5dv_devx_obj_query(qp_.get(), in.bytes.data(), 16, out.bytes.data(), out.bytes.size()),
      "QUERY_QP");
  return out.get(qpf::kState, qpf::kContext);
}

std::unique_ptr<Endpoint> make_devx_endpoint(const Route& route, const Options& options) {
  return std::make_unique<DevxEndpoint>(route, options);
}

}  // namespace direct
