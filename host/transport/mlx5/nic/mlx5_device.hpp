// The NIC that a PE uses: opened, its port looked at, with a protection domain for all its objects.
#pragma once

#include <string>

#include "host/options/nic.hpp"
#include "host/transport/mlx5/nic/device_choice.hpp"
#include "host/transport/mlx5/nic/rdma_core.hpp"
#include "host/transport/mlx5/queues/queue_pair.hpp"

namespace chime::host::mlx5 {

struct DeviceCapabilities {
  unsigned reads = 16;                // reads and atomics in flight at a time, of a queue pair
  bool atomics = false;               // 8 bytes: fetch-add, compare-and-swap
  bool extended_atomics = false;      // masked forms, 4 and 8 bytes
  bool results_8_big_endian = false;  // what 8-byte atomics fetch; 4-byte results always are
  bool tells_data_order = false;      // of each queue pair, if the firmware is asked
  bool relaxed_ordering = false;      // of writes to memory whose key allows it
  unsigned most_blocks = 32768;       // of a send queue
};

class Device {
 public:
  // `gpu`: the PCI address of the PE's; empty for the CPU device. `turn`: see device_choice.hpp.
  // Throws Error: no library, no such device, port down, no usable address.
  Device(const NicOptions& options, const std::string& gpu, int turn);

  ibv_context* context() const { return context_.get(); }
  ibv_pd* pd() const { return pd_.get(); }
  std::uint8_t port() const { return port_; }
  unsigned gid_index() const { return gid_index_; }
  const PortAddress& address() const { return address_; }
  const DeviceCapabilities& capabilities() const { return capabilities_; }
  const NicOptions& options() const { return options_; }

  // Whether firmware commands can be sent; the reason if not.
  bool has_devx() const { return why_no_devx_.empty(); }
  const std::string& why_no_devx() const { return why_no_devx_; }

  // "mlx5_0 port 1 (nearest to GPU 0000:81:00.0: both in package 1), RoCE v2, GID ::ffff:10.0.0.1
  // (index 3)".
  const std::string& description() const { return description_; }

 private:
  void open(const std::string& gpu, int turn);
  void read_port();
  void read_capabilities();

  const NicOptions options_;
  std::string name_;
  std::string why_this_port_;
  std::string why_no_devx_;
  Context context_;
  ProtectionDomain pd_;
  std::uint8_t port_ = 0;
  unsigned gid_index_ = 0;
  PortAddress address_;
  DeviceCapabilities capabilities_;
  std::string description_;
};

}  // namespace chime::host::mlx5
