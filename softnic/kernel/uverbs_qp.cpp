// The kernel: queue pairs of verbs programs.

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>

#include "qp_states.hpp"
#include "softnic/attach/identity.hpp"
#include "softnic/engine/wqe.hpp"
#include "softnic/observe/settings.hpp"
#include "softnic/wire/path.hpp"
#include "uverbs_call.hpp"

namespace softnic {
namespace {

constexpr std::uint32_t kNoBfreg = 1u << 31;  // the kernel has none to give away

bool is_service(std::uint64_t type) {
  switch (type) {
    case IB_UVERBS_QPT_RC:
    case IB_UVERBS_QPT_UC:
    case IB_UVERBS_QPT_UD:
    case IB_UVERBS_QPT_RAW_PACKET:
    case IB_UVERBS_QPT_XRC_INI:
    case IB_UVERBS_QPT_XRC_TGT:
    case IB_UVERBS_QPT_DRIVER:
      return true;
    default:
      return false;
  }
}

// The kernel's own flags. SQ_SIG_ALL is for the library, which then requests every completion. Two
// more are for datagrams and need a capability that the device does not have. The rest is for raw
// packets; connected services accept none.
int check_create_flags(const Message& m, Transport transport) {
  constexpr std::uint64_t kOfDatagrams =
      IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING;
  const std::uint64_t flags =
      m.number(UVERBS_ATTR_CREATE_QP_FLAGS) & ~std::uint64_t{IB_UVERBS_QP_CREATE_SQ_SIG_ALL};
  if (flags != 0 && (transport != Transport::kUd || flags & ~kOfDatagrams)) return EINVAL;
  return flags != 0 || m.has(UVERBS_ATTR_CREATE_QP_SOURCE_QPN) ? EOPNOTSUPP : 0;
}

// mlx5's own part. Libraries that take doorbell pages one by one (get_context) name the queue
// pair's page by its number; scattering to completions is only a hint. All other requests need a
// capability that the device does not have.
int check_driver_part(const Message& m, const mlx5_ib_create_qp& driver) {
  constexpr std::uint32_t kWishes = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE;
  constexpr std::uint32_t kNoUserIndex = 0xffffff;
  if (m.bytes(UVERBS_ATTR_UHW_IN).size() < offsetof(mlx5_ib_create_qp, ece_options)) return EINVAL;
  if (!m.is_zero_behind(offsetof(mlx5_ib_create_qp, reserved), UVERBS_ATTR_UHW_IN)) return EINVAL;
  if ((driver.flags & ~kWishes) != MLX5_QP_FLAG_UAR_PAGE_INDEX) return EINVAL;
  return driver.uidx >= kNoUserIndex ? EINVAL : 0;
}

// The rings that the library has laid out must be those that the program requested.
bool are_sizes_sane(const QueuePair& qp, const ib_uverbs_qp_cap& wanted) {
  const auto is_power = [](std::uint32_t n) { return n == 0 || std::has_single_bit(n); };
  if (!is_power(qp.send_blocks) || qp.send_blocks > identity::kMaxWr) return false;
  if (!is_power(qp.receive_entries) || qp.receive_entries > identity::kMaxWr) return false;
  if (wanted.max_recv_wr > identity::kMaxWr) return false;
  const bool receives = wanted.max_recv_wr != 0 && qp.srqn == 0;
  if (!receives) return qp.receive_entries == 0 && qp.receive_shift == 0;
  return qp.receive_entries != 0 && qp.receive_shift >= 4 && qp.receive_shift <= 10;
}

bool transport_of(std::uint64_t type, Transport& transport) {
  switch (type) {
    case IB_UVERBS_QPT_RC:
      transport = Transport::kRc;
      return true;
    case IB_UVERBS_QPT_UC:
      transport = Transport::kUc;
      return true;
    case IB_UVERBS_QPT_UD:
      transport = Transport::kUd;
      return true;
    default:
      return false;
  }
}

Path path_of(const ib_uverbs_qp_dest& destination) {
  Path path;
  path.lid = destination.dlid;
  std::ranges::copy(destination.dgid, path.gid.begin());
  std::ranges::copy(identity::kMac, path.mac.begin());  // the kernel derives it from the GID
  return path;
}

// Values that the kernel refuses in every state: no queue pair can have them.
bool are_values_sane(const ib_uverbs_modify_qp& m) {
  const auto given = [&](QpAttribute a) { return (m.attr_mask & a) != 0; };
  if (given(kAttrPort) && m.port_num != 1) return false;
  if (given(kAttrPkeyIndex) && m.pkey_index != 0) return false;
  if (given(kAttrPathMtu) && (m.path_mtu < 1 || m.path_mtu > 5)) return false;
  if (given(kAttrMaxReads) && m.max_rd_atomic > identity::kMaxReads) return false;
  if (given(kAttrMaxDestReads) && m.max_dest_rd_atomic > identity::kMaxReads) return false;
  if (given(kAttrCurState) && m.cur_qp_state > static_cast<int>(QpState::kError)) return false;
  if (!given(kAttrAv)) return true;
  if (m.dest.port_num != 1 || (settings().ethernet && !m.dest.is_global)) return false;
  return !m.dest.is_global || m.dest.sgid_index < gids_in_use();
}

void set_attributes(QueuePair& qp, const ib_uverbs_modify_qp& m) {
  const auto given = [&](QpAttribute a) { return (m.attr_mask & a) != 0; };
  if (given(kAttrAccess)) qp.access = m.qp_access_flags;
  if (given(kAttrPkeyIndex)) qp.pkey_index = m.pkey_index;
  if (given(kAttrPort)) qp.port = m.port_num;
  if (given(kAttrQkey)) qp.qkey = m.qkey;
  if (given(kAttrAv)) {
    std::memcpy(qp.destination, &m.dest, sizeof qp.destination);
    qp.path_leads_nowhere = !leads_to_port(path_of(m.dest));
  }
  if (given(kAttrPathMtu)) qp.path_mtu = m.path_mtu;
  // The firmware's fields have this many bits, and the kernel cuts the values.
  if (given(kAttrTimeout)) qp.timeout = m.timeout & 31;
  if (given(kAttrRetryCount)) qp.retry_count = m.retry_cnt & 7;
  if (given(kAttrRnrRetry)) qp.rnr_retry = m.rnr_retry & 7;
  if (given(kAttrRqPsn)) qp.rq_psn = m.rq_psn & 0xffffff;
  if (given(kAttrSqPsn)) qp.sq_psn = m.sq_psn & 0xffffff;
  if (given(kAttrMaxReads)) qp.max_reads = std::max<std::uint8_t>(1, m.max_rd_atomic);
  if (given(kAttrMaxDestReads)) qp.max_dest_reads = m.max_dest_rd_atomic;
  if (given(kAttrMinRnrTimer)) qp.min_rnr_timer = m.min_rnr_timer & 31;
  if (given(kAttrDestQpn)) qp.remote_qpn = m.dest_qp_num & 0xffffff;
}

// Resolves the objects of the new queue pair. 0, or the error of the first that is missing.
int take_named(Call& call, QueuePair& qp) {
  const auto take = [&](Kind kind, unsigned id, std::uint32_t& number) {
    number = call.named(kind, id);
    if (number != 0) return 0;
    return call.message.has(id) ? call.refusal(id) : ENOENT;  // XRC queue pairs could do without
  };
  int refusal = take(Kind::kPd, UVERBS_ATTR_CREATE_QP_PD_HANDLE, qp.pd);
  if (!refusal) refusal = take(Kind::kCq, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, qp.send_cqn);
  if (!refusal) refusal = take(Kind::kCq, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, qp.receive_cqn);
  if (!refusal && call.message.has(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE))
    refusal = take(Kind::kSrq, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, qp.srqn);
  for (const unsigned none :
       {UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE})
    if (!refusal && call.message.has(none)) refusal = call.refusal(none);
  if (!refusal) refusal = call.check_channel(UVERBS_ATTR_CREATE_QP_EVENT_FD);
  return refusal;
}

}  // namespace

int create_qp(Call& call) {
  const Message& m = call.message;
  const auto driver = m.in<mlx5_ib_create_qp>(UVERBS_ATTR_UHW_IN);
  const auto capabilities = m.in<ib_uverbs_qp_cap>(UVERBS_ATTR_CREATE_QP_CAP);
  QueuePair qp;
  const std::uint64_t type = m.number(UVERBS_ATTR_CREATE_QP_TYPE);
  if (!is_service(type)) return EINVAL;
  if (!transport_of(type, qp.transport)) return EOPNOTSUPP;
  if (const int refusal = take_named(call, qp)) return refusal;
  if (const int refusal = check_driver_part(m, driver)) return refusal;
  if (const int refusal = check_create_flags(m, qp.transport)) return refusal;
  qp.owner.file = call.file;
  qp.owner.user_handle = m.number(UVERBS_ATTR_CREATE_QP_USER_HANDLE);
  qp.user_index = driver.uidx;
  qp.uar_page = driver.bfreg_index;
  qp.receive_entries = driver.rq_wqe_count;
  qp.receive_shift = driver.rq_wqe_shift;
  qp.send_blocks = driver.sq_wqe_count;
  qp.signals_all = m.number(UVERBS_ATTR_CREATE_QP_FLAGS) & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
  if (!are_sizes_sane(qp, capabilities)) return EINVAL;
  for (const std::uint32_t cqn : {qp.send_cqn, qp.receive_cqn})
    if (call.device.cq(cqn)->real_time) return EOPNOTSUPP;
  const std::uint64_t receive_bytes = std::uint64_t{qp.receive_entries} << qp.receive_shift;
  const std::uint64_t ring_bytes = receive_bytes + std::uint64_t{qp.send_blocks} * kBlock;
  qp.receive_ring = reinterpret_cast<std::byte*>(driver.buf_addr);
  qp.send_ring = reinterpret_cast<std::byte*>(driver.buf_addr + receive_bytes);
  qp.records = reinterpret_cast<std::uint32_t*>(driver.db_addr);
  if (!can_pin(driver.buf_addr, ring_bytes, Use::kRead)) return EFAULT;
  if (driver.buf_addr % kBlock != 0) return EINVAL;
  if (!can_pin_record(driver.db_addr)) return EFAULT;
  if (!call.device.has_uar(qp.uar_page)) return EINVAL;
  const QueuePair* made = call.device.add_qp(std::move(qp));
  if (!made) return ENOMEM;
  call.message.set_handle(UVERBS_ATTR_CREATE_QP_HANDLE,
                          call.handles.add(Kind::kQp, made->qpn, call.file));
  call.message.out(UVERBS_ATTR_CREATE_QP_RESP_CAP, capabilities);
  call.message.out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, made->qpn);
  mlx5_ib_create_qp_resp r{};
  r.bfreg_index = kNoBfreg;
  call.message.out(UVERBS_ATTR_UHW_OUT, r);
  return 0;
}

int destroy_qp(Call& call) {
  const std::uint32_t handle = call.message.handle(UVERBS_ATTR_DESTROY_QP_HANDLE);
  const std::uint32_t qpn = call.number(Kind::kQp, handle);
  const QueuePair* qp = call.device.qp(qpn);
  if (!qp) return call.refusal(UVERBS_ATTR_DESTROY_QP_HANDLE);
  ib_uverbs_destroy_qp_resp r{};
  r.events_reported = async_events_read(call.device, qp->owner);
  call.nic.engine().settle(*qp);
  call.device.remove_qp(qpn);
  call.handles.remove(handle);
  call.message.out(UVERBS_ATTR_DESTROY_QP_RESP, r);
  return 0;
}

// mlx5's own part, which may be absent.
int check_driver_part_of_modify(const Message& m) {
  const std::size_t bytes = m.bytes(UVERBS_ATTR_UHW_IN).size();
  const auto driver = m.in<mlx5_ib_modify_qp>(UVERBS_ATTR_UHW_IN);
  if (bytes == 0) return 0;
  if (bytes < sizeof driver) return EINVAL;
  const bool clean = m.is_zero_behind(sizeof driver, UVERBS_ATTR_UHW_IN) && !driver.comp_mask &&
                     !driver.burst_info.reserved;
  return clean ? 0 : EOPNOTSUPP;
}

int modify_qp(Call& call) {
  const auto m = call.message.in<ib_uverbs_modify_qp>(UVERBS_ATTR_CORE_IN);
  QueuePair* qp = call.device.qp(call.number(Kind::kQp, m.qp_handle));
  if (!qp) return EINVAL;
  if (m.attr_mask & ~kKnownAttributes) return EOPNOTSUPP;
  if (const int refusal = check_driver_part_of_modify(call.message)) return refusal;
  const QpState to = m.attr_mask & kAttrState ? static_cast<QpState>(m.qp_state) : qp->state;
  const QpState from =
      m.attr_mask & kAttrCurState ? static_cast<QpState>(m.cur_qp_state) : qp->state;
  if (!are_values_sane(m) || from != qp->state) return EINVAL;
  if (!is_transition_allowed(qp->transport, from, to, m.attr_mask)) return EINVAL;
  set_attributes(*qp, m);
  if (to == QpState::kReset)
    call.nic.engine().reset(*qp);
  else if (to == QpState::kError)
    call.nic.engine().enter_error(*qp);
  else
    qp->state = to;
  if (from == QpState::kRtr && to == QpState::kRts) log_ready(*qp);
  return 0;
}

int query_qp(Call& call) {
  const auto q = call.message.in<ib_uverbs_query_qp>(UVERBS_ATTR_CORE_IN);
  const QueuePair* qp = call.device.qp(call.number(Kind::kQp, q.qp_handle));
  if (!qp) return EINVAL;
  ib_uverbs_query_qp_resp r{};
  // The library itself knows the send queue.
  r.max_recv_wr = qp->receive_entries;
  r.max_recv_sge = qp->receive_entries == 0 ? 0 : (1u << qp->receive_shift) / kSegment;
  r.sq_sig_all = qp->signals_all;
  std::memcpy(&r.dest, qp->destination, sizeof qp->destination);
  r.qp_state = r.cur_qp_state = static_cast<std::uint8_t>(qp->state);
  r.qkey = qp->qkey;
  r.rq_psn = qp->rq_psn;
  r.sq_psn = qp->sq_psn;
  r.dest_qp_num = qp->remote_qpn;
  r.qp_access_flags = qp->access;
  r.pkey_index = qp->pkey_index;
  r.path_mtu = qp->path_mtu;
  r.max_rd_atomic = qp->max_reads;
  r.max_dest_rd_atomic = qp->max_dest_reads;
  r.min_rnr_timer = qp->min_rnr_timer;
  r.port_num = qp->port;
  r.timeout = qp->timeout;
  r.retry_cnt = qp->retry_count;
  r.rnr_retry = qp->rnr_retry;
  call.message.out(UVERBS_ATTR_CORE_OUT, r);
  return 0;
}

}  // namespace softnic
