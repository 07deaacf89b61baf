// The kernel: shared receive queues.

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "softnic/attach/identity.hpp"
#include "uverbs_call.hpp"

namespace softnic {
namespace {

// Accepts only plain ones. The others need an extended domain, which does not exist here, or a
// capability for matching tags.
int check_type(const Call& call) {
  const Message& m = call.message;
  switch (m.number(UVERBS_ATTR_CREATE_SRQ_TYPE)) {
    case IB_UVERBS_SRQT_BASIC:
      return 0;
    case IB_UVERBS_SRQT_XRC:
      return ENOENT;
    case IB_UVERBS_SRQT_TM:
      return m.has(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE) && m.has(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS)
                 ? EINVAL
                 : ENOENT;
    default:
      return EINVAL;
  }
}

// mlx5's own part. A short one counts as one that ends in zeros.
int check_driver_part(const Message& m, const mlx5_ib_create_srq& driver) {
  constexpr std::uint32_t kSignature = 1;
  if (driver.reserved0 || driver.reserved1 || driver.flags & kSignature) return EINVAL;
  return m.is_zero_behind(sizeof driver, UVERBS_ATTR_UHW_IN) ? 0 : EINVAL;
}

}  // namespace

int create_srq(Call& call) {
  const Message& m = call.message;
  const auto driver = m.in<mlx5_ib_create_srq>(UVERBS_ATTR_UHW_IN);
  const auto wanted = static_cast<std::uint32_t>(m.number(UVERBS_ATTR_CREATE_SRQ_MAX_WR));
  const auto sges = static_cast<std::uint32_t>(m.number(UVERBS_ATTR_CREATE_SRQ_MAX_SGE));
  SharedReceiveQueue srq;
  srq.pd = call.named(Kind::kPd, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
  if (srq.pd == 0) return call.refusal(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
  if (const int refusal = check_type(call)) return refusal;
  if (const int refusal = call.check_channel(UVERBS_ATTR_CREATE_SRQ_EVENT_FD)) return refusal;
  if (wanted >= identity::kMaxWr || sges > identity::kMaxSrqSge) return EINVAL;
  if (const int refusal = check_driver_part(m, driver)) return refusal;
  srq.entries = std::bit_ceil(wanted + 1);
  srq.stride = std::bit_ceil(
      static_cast<std::uint32_t>(std::max<std::size_t>(32, kSegment + kSegment * sges)));
  srq.ring = reinterpret_cast<std::byte*>(driver.buf_addr);
  srq.record = reinterpret_cast<std::uint32_t*>(driver.db_addr);
  srq.owner.file = call.file;
  srq.owner.user_handle = m.number(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE);
  srq.limit = static_cast<std::uint32_t>(m.number(UVERBS_ATTR_CREATE_SRQ_LIMIT));
  if (!can_pin(driver.buf_addr, std::uint64_t{srq.entries} * srq.stride, Use::kRead)) return EFAULT;
  if (!can_pin_record(driver.db_addr)) return EFAULT;
  const std::uint32_t max_wr = srq.entries - 1;
  const std::uint32_t srqn = call.device.add_srq(srq).srqn;
  call.message.set_handle(UVERBS_ATTR_CREATE_SRQ_HANDLE,
                          call.handles.add(Kind::kSrq, srqn, call.file));
  call.message.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, max_wr);
  call.message.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, sges);
  call.message.out(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, srqn);
  mlx5_ib_create_srq_resp r{};
  r.srqn = srqn;
  call.message.out(UVERBS_ATTR_UHW_OUT, r);
  return 0;
}

bool is_srq_in_use(Device& device, std::uint32_t srqn) {
  for (auto& [number, qp] : device.qps())
    if (qp.srqn == srqn) return true;
  return false;
}

int destroy_srq(Call& call) {
  const std::uint32_t handle = call.message.handle(UVERBS_ATTR_DESTROY_SRQ_HANDLE);
  const SharedReceiveQueue* srq = call.device.srq(call.number(Kind::kSrq, handle));
  if (!srq) return call.refusal(UVERBS_ATTR_DESTROY_SRQ_HANDLE);
  if (is_srq_in_use(call.device, srq->srqn)) return EBUSY;
  const std::uint32_t events = async_events_read(call.device, srq->owner);
  call.device.remove_srq(srq->srqn);
  call.handles.remove(handle);
  call.message.out(UVERBS_ATTR_DESTROY_SRQ_RESP, events);
  return 0;
}

int modify_srq(Call& call) {
  const auto m = call.message.in<ib_uverbs_modify_srq>(UVERBS_ATTR_CORE_IN);
  SharedReceiveQueue* srq = call.device.srq(call.number(Kind::kSrq, m.srq_handle));
  if (!srq || m.attr_mask & 1) return EINVAL;  // bit 0: resize, which mlx5 refuses too
  if (!(m.attr_mask & 2)) return 0;
  if (m.srq_limit >= srq->entries) return EINVAL;
  srq->limit = m.srq_limit;
  return 0;
}

int query_srq(Call& call) {
  const auto q = call.message.in<ib_uverbs_query_srq>(UVERBS_ATTR_CORE_IN);
  const SharedReceiveQueue* srq = call.device.srq(call.number(Kind::kSrq, q.srq_handle));
  if (!srq) return EINVAL;
  ib_uverbs_query_srq_resp r{};
  r.max_wr = srq->entries - 1;
  r.max_sge = (srq->stride - kSegment) / kSegment;
  r.srq_limit = srq->limit;
  call.message.out(UVERBS_ATTR_CORE_OUT, r);
  return 0;
}

}  // namespace softnic
