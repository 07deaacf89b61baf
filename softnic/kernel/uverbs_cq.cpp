// The kernel: completion queues of verbs programs.

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <bit>
#include <cerrno>
#include <cstddef>

#include "softnic/attach/identity.hpp"
#include "uverbs_call.hpp"

namespace softnic {
namespace {
constexpr unsigned kCqFlags =
    IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;

// mlx5's own part: its driver checks it before it looks at the ring.
int check_driver_part(const Message& m, const mlx5_ib_create_cq& driver) {
  constexpr unsigned kKnown = MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD |
                              MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX |
                              MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
  if (m.bytes(UVERBS_ATTR_UHW_IN).size() < offsetof(mlx5_ib_create_cq, flags)) return EINVAL;
  if (driver.flags & ~kKnown) return EINVAL;
  if (driver.cqe_size != 64 && driver.cqe_size != 128) return EINVAL;
  return driver.reserved0 || driver.reserved1 ? EINVAL : 0;
}

// The rest of that part. Libraries that take doorbell pages one by one (get_context) name the
// queue's page by its number; compressed and padded entries need capabilities that the device does
// not have.
int check_capabilities(const Device& device, const mlx5_ib_create_cq& driver) {
  if (!(driver.flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX)) return EINVAL;
  if (driver.cqe_comp_en == 1) return EOPNOTSUPP;
  if (driver.flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD) return EOPNOTSUPP;
  return device.has_uar(driver.uar_page_index) ? 0 : EINVAL;
}
}  // namespace

int create_cq(Call& call) {
  const Message& m = call.message;
  const auto driver = m.in<mlx5_ib_create_cq>(UVERBS_ATTR_UHW_IN);
  const auto wanted = static_cast<std::uint32_t>(m.number(UVERBS_ATTR_CREATE_CQ_CQE));
  const std::uint64_t flags = m.number(UVERBS_ATTR_CREATE_CQ_FLAGS);
  if (flags & ~std::uint64_t{kCqFlags}) return EINVAL;
  if (wanted > identity::kMaxCqe) return EINVAL;
  if (m.number(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR) >= identity::kCompletionVectors) return EINVAL;
  for (const unsigned channel :
       {UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, UVERBS_ATTR_CREATE_CQ_EVENT_FD})
    if (const int refusal = call.check_channel(channel)) return refusal;
  if (const int refusal = check_driver_part(m, driver)) return refusal;
  CompletionQueue cq;
  cq.ring = reinterpret_cast<std::byte*>(driver.buf_addr);
  cq.records = reinterpret_cast<std::uint32_t*>(driver.db_addr);
  cq.entries = std::bit_ceil(wanted + 1);  // mlx5 rounds up, and reports the result
  cq.entry_bytes = driver.cqe_size;
  cq.uar_page = driver.uar_page_index;
  cq.owner.file = call.file;
  cq.owner.user_handle = m.number(UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
  cq.overrun_ignored = flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
  if (!can_pin(driver.buf_addr, std::uint64_t{cq.entries} * cq.entry_bytes, Use::kWrite))
    return EFAULT;
  if (driver.buf_addr % 64 != 0) return EINVAL;
  if (!can_pin_record(driver.db_addr)) return EFAULT;
  if (const int refusal = check_capabilities(call.device, driver)) return refusal;
  cq.channel = m.fd(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
  cq.real_time = driver.flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
  const std::uint32_t cqn = call.device.add_cq(cq).cqn, entries = cq.entries;
  call.message.set_handle(UVERBS_ATTR_CREATE_CQ_HANDLE,
                          call.handles.add(Kind::kCq, cqn, call.file));
  call.message.out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, entries - 1);
  call.message.out(UVERBS_ATTR_UHW_OUT, mlx5_ib_create_cq_resp{cqn, 0});
  return 0;
}

bool is_cq_in_use(Device& device, std::uint32_t cqn) {
  for (auto& [number, qp] : device.qps())
    if (qp.send_cqn == cqn || qp.receive_cqn == cqn) return true;
  return false;
}

// Moderation sets how long events may be held back: here they never are.
int modify_cq(Call& call) {
  constexpr std::uint32_t kModerate = 1;
  constexpr std::uint16_t kLongestPeriod = 0xfff;  // us
  const auto m = call.message.in<ib_uverbs_ex_modify_cq>(UVERBS_ATTR_CORE_IN);
  if (m.attr_mask == 0 || m.reserved) return EINVAL;
  if (m.attr_mask > kModerate) return EOPNOTSUPP;
  if (call.number(Kind::kCq, m.cq_handle) == 0) return EINVAL;
  return m.attr.cq_period > kLongestPeriod ? EINVAL : 0;
}

int destroy_cq(Call& call) {
  const std::uint32_t handle = call.message.handle(UVERBS_ATTR_DESTROY_CQ_HANDLE);
  CompletionQueue* cq = call.device.cq(call.number(Kind::kCq, handle));
  if (!cq) return call.refusal(UVERBS_ATTR_DESTROY_CQ_HANDLE);
  if (is_cq_in_use(call.device, cq->cqn)) return EBUSY;
  ib_uverbs_destroy_cq_resp r{};
  r.comp_events_reported = events_read(call.device, cq->channel, sizeof(ib_uverbs_comp_event_desc),
                                       cq->owner.user_handle, cq->events_sent);
  r.async_events_reported = async_events_read(call.device, cq->owner);
  call.device.remove_cq(cq->cqn);
  call.handles.remove(handle);
  call.message.out(UVERBS_ATTR_DESTROY_CQ_RESP, r);
  return 0;
}

}  // namespace softnic
