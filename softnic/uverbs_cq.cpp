// The kernel: completion queues of verbs programs.

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <bit>
#include <cerrno>

#include "identity.hpp"
#include "uverbs_call.hpp"

namespace softnic {
namespace {
constexpr unsigned kCqFlags =
    IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
}  // namespace

int create_cq(Call& call) {
  const Message& m = call.message;
  const auto driver = m.in<mlx5_ib_create_cq>(UVERBS_ATTR_UHW_IN);
  const auto wanted = static_cast<std::uint32_t>(m.number(UVERBS_ATTR_CREATE_CQ_CQE));
  const std::uint64_t flags = m.number(UVERBS_ATTR_CREATE_CQ_FLAGS);
  if (flags & ~std::uint64_t{kCqFlags}) return EINVAL;
  if (wanted > identity::kMaxCqe) return EINVAL;
  CompletionQueue cq;
  cq.ring = reinterpret_cast<std::byte*>(driver.buf_addr);
  cq.records = reinterpret_cast<std::uint32_t*>(driver.db_addr);
  cq.entries = std::bit_ceil(wanted + 1);  // mlx5 rounds up, and says so
  cq.entry_bytes = driver.cqe_size;
  cq.uar_page = driver.uar_page_index;
  cq.owner.file = call.file;
  cq.owner.user_handle = m.number(UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
  cq.overrun_ignored = flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
  if (cq.entry_bytes != 64 && cq.entry_bytes != 128) return EINVAL;
  if (m.number(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR) >= identity::kCompletionVectors) return EINVAL;
  if (driver.buf_addr % 8 != 0) return EINVAL;
  if (!can_pin(driver.buf_addr, std::uint64_t{cq.entries} * cq.entry_bytes, Use::kWrite))
    return EFAULT;
  if (!can_pin_record(driver.db_addr)) return EFAULT;
  if (m.has(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)) {
    cq.channel = m.fd(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
    if (!call.device.channel(cq.channel)) return EBADF;
  }
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
