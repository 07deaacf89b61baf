#include "host/transport/mlx5/nic/device_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <utility>

#include "chime/abi/start_thread.h"
#include "host/errors/error.hpp"
#include "net/socket/fork.hpp"

namespace chime::host::mlx5 {

DeviceWatch::DeviceWatch(ibv_context* context, Gone gone)
    : context_(context),
      gone_(std::move(gone)),
      end_(net::opened_for_this_process([] { return eventfd(0, EFD_CLOEXEC); })) {
  if (!end_) throw system_error("NIC", "eventfd");
  fcntl(context_->async_fd, F_SETFL, fcntl(context_->async_fd, F_GETFL) | O_NONBLOCK);
  thread_ = abi::start_thread([this] { listen(); });
}

DeviceWatch::~DeviceWatch() {
  eventfd_write(end_.get(), 1);
  thread_.join();
}

// All events that have come are taken: destroying an object waits until its events are
// acknowledged. Other events are of queue pairs, whose completions say the same and more, or of
// ports, which may come back.
bool DeviceWatch::is_fatal() {
  const RdmaCore& core = rdma_core();
  bool is_gone = false;
  ibv_async_event event;
  while (core.ibv_get_async_event(context_, &event) == 0) {
    is_gone |= event.event_type == IBV_EVENT_DEVICE_FATAL;
    core.ibv_ack_async_event(&event);
  }
  return is_gone || (errno != EAGAIN && errno != EINTR);
}

void DeviceWatch::listen() {
  pollfd watched[] = {{end_.get(), POLLIN, 0}, {context_->async_fd, POLLIN, 0}};
  while (poll(watched, 2, -1) >= 0 || errno == EINTR) {
    if (watched[0].revents != 0) return;
    if (watched[1].revents == 0 || !is_fatal()) continue;
    return gone_(std::string("its own NIC ") + rdma_core().ibv_get_device_name(context_->device) +
                 " is gone, says its driver");
  }
}

}  // namespace chime::host::mlx5
