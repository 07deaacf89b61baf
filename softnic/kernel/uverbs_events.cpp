// The kernel: channels that carry events to the program.

#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "uverbs_call.hpp"

namespace softnic {
namespace {

// Null for objects that have no events.
Owner* owner_of(Call& call, const Handle& object) {
  if (object.kind == Kind::kQp) return &call.device.qp(object.number)->owner;
  if (object.kind == Kind::kCq) return &call.device.cq(object.number)->owner;
  if (object.kind == Kind::kSrq) return &call.device.srq(object.number)->owner;
  return nullptr;
}

// A duplicate of the program's eventfd: the program may close its own.
int hold_counter(int fd, std::shared_ptr<const int>& counter) {
  char name[64] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  if (::syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), name, sizeof name - 1) < 0) return EBADF;
  if (std::string_view(name) != "anon_inode:[eventfd]") return EINVAL;
  const long own = ::syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return EMFILE;
  counter = {new int(static_cast<int>(own)), [](const int* held) {
               ::syscall(SYS_close, *held);
               delete held;
             }};
  return 0;
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
  constexpr std::uint64_t kOmitData = MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA;
  const std::uint64_t flags = call.message.number(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS);
  if (flags & ~kOmitData) return EINVAL;
  const int fd = call.device.add_devx_channel(/*tells_data=*/!(flags & kOmitData));
  if (fd < 0) return EMFILE;
  call.message.set_fd(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, fd);
  return 0;
}

// DevX: sends events of `types` of an object to a channel with a cookie, or to an eventfd. Events
// without an object (of the port) never happen here.
int subscribe_event(Call& call) {
  constexpr std::size_t kMostTypes = 16;
  constexpr unsigned kObject = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE;
  constexpr unsigned kCounter = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM;
  const Message& m = call.message;
  const EventChannel* channel =
      call.device.channel(m.fd(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE));
  if (!channel) return EBADF;
  const Handle* object = call.handles.find(m.handle(kObject), call.file);
  if (m.has(kObject) && (!object || !is_made_by_command(call.device, *object)))
    return call.refusal(kObject);
  if (m.has(kCounter) && m.has(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE)) return EINVAL;
  const auto types = m.bytes(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST);
  if (types.size() % 2 != 0 || types.size() / 2 > kMostTypes) return EINVAL;
  for (std::size_t at = 0; at < types.size(); at += 2) {
    const auto type = static_cast<EventType>(load<std::uint16_t>(types.data() + at));
    if (!(object ? is_event_of_object(type) : is_event_of_device(type))) return EINVAL;
  }
  Owner::Subscription subscription{{},
                                   object ? object->number : 0,
                                   channel->read_fd,
                                   channel->id,
                                   m.number(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE),
                                   nullptr};
  if (m.has(kCounter))
    if (const int refusal = hold_counter(m.in<int>(kCounter), subscription.counter)) return refusal;
  Owner* owner = object ? owner_of(call, *object) : nullptr;
  for (std::size_t at = 0; owner && at < types.size(); at += 2) {
    subscription.type = static_cast<EventType>(load<std::uint16_t>(types.data() + at));
    owner->subscriptions.push_back(subscription);
  }
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
