// The kernel: channels that carry events to the program.

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "uverbs_call.hpp"

namespace softnic {
namespace {

Owner* owner_of(Call& call, std::uint32_t handle) {
  const Handle* object = call.handles.find(handle, call.file);
  if (!object) return nullptr;
  if (object->kind == Kind::kQp)
    if (QueuePair* qp = call.device.qp(object->number)) return &qp->owner;
  if (object->kind == Kind::kCq)
    if (CompletionQueue* cq = call.device.cq(object->number)) return &cq->owner;
  if (object->kind == Kind::kSrq)
    if (SharedReceiveQueue* srq = call.device.srq(object->number)) return &srq->owner;
  return nullptr;
}

}  // namespace

int create_async_channel(Call& call) {
  const int fd = call.device.add_channel();
  if (fd < 0) return EMFILE;
  call.device.set_async_channel(call.file, fd);
  call.message.set_fd(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, fd);
  return 0;
}

int create_devx_event_channel(Call& call) {
  const int fd = call.device.add_channel();
  if (fd < 0) return EMFILE;
  call.message.set_fd(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, fd);
  return 0;
}

// DevX: `types` of an object's events go to a channel with a cookie. Events of no object (of the
// port) never happen here.
int subscribe_event(Call& call) {
  constexpr std::size_t kMostTypes = 16;
  const Message& m = call.message;
  constexpr unsigned kObject = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE;
  const int fd = m.fd(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE);
  if (!call.device.channel(fd)) return EBADF;
  if (m.has(kObject) && !call.handles.find(m.handle(kObject), call.file)) return ENOENT;
  Owner* owner = owner_of(call, m.handle(kObject));
  if (owner && !owner->is_devx) return EINVAL;
  const auto types = m.bytes(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST);
  if (types.size() % 2 != 0 || types.size() / 2 > kMostTypes) return EINVAL;
  const std::uint64_t cookie = m.number(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE);
  for (std::size_t at = 0; owner && at + 2 <= types.size(); at += 2)
    owner->subscriptions.push_back({load<std::uint16_t>(types.data() + at), fd, cookie});
  return 0;
}

int create_comp_channel(Call& call) {
  ib_uverbs_create_comp_channel_resp r{};
  const int fd = call.device.add_channel();
  if (fd < 0) return EMFILE;
  r.fd = static_cast<std::uint32_t>(fd);
  call.message.out(UVERBS_ATTR_CORE_OUT, &r, 4);
  return 0;
}

std::uint32_t events_read(Device& device, int channel, std::size_t record_bytes,
                          std::uint64_t element, std::uint32_t sent) {
  const EventChannel* pipe = device.channel(channel);
  if (!pipe) return sent;
  std::uint32_t unread = 0;
  std::vector<std::array<std::byte, 16>> others;
  for (std::array<std::byte, 16> event;
       ::syscall(SYS_read, pipe->drain_fd, event.data(), record_bytes) ==
       static_cast<long>(record_bytes);) {
    if (load<std::uint64_t>(event.data()) == element)
      ++unread;
    else
      others.push_back(event);
  }
  for (const auto& event : others)
    if (::syscall(SYS_write, pipe->write_fd, event.data(), record_bytes) < 0) break;
  return sent - unread;
}

std::uint32_t async_events_read(Device& device, const Owner& owner) {
  return events_read(device, device.async_channel(owner.file), sizeof(ib_uverbs_async_event_desc),
                     owner.user_handle, owner.async_events);
}

}  // namespace softnic
