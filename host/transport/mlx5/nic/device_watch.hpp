// Listens to the driver's events of this PE's own device: if that is gone, no completion will come
// and no wait for one would end before its time.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "host/transport/mlx5/nic/rdma_core.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::host::mlx5 {

class DeviceWatch {
 public:
  using Gone = std::function<void(const std::string& why)>;

  // `gone` is called at most once, by a thread of this object. `context` outlives it.
  DeviceWatch(ibv_context* context, Gone gone);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;

 private:
  void listen();
  bool is_fatal();

  ibv_context* const context_;
  const Gone gone_;
  const net::Descriptor end_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace chime::host::mlx5
