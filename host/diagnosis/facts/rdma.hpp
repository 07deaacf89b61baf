// The RDMA devices and their ports, as the kernel shows them (Documentation/ABI/stable/
// sysfs-class-infiniband).
#pragma once

#include <string>
#include <vector>

#include "host/diagnosis/root.hpp"

namespace chime::doctor {

struct RdmaPort {
  std::string nic;         // "mlx5_0"
  std::string where;       // "mlx5_0 port 1"
  std::string folder;      // "/sys/class/infiniband/mlx5_0/ports/1"
  std::string state;       // "4: ACTIVE"
  std::string physical;    // "5: LinkUp"
  std::string rate;        // "400 Gb/sec (4X NDR)"
  std::string interface_;  // "eth0"; empty: none
  bool is_ethernet = false;

  bool is_active() const { return state.find("ACTIVE") != std::string::npos; }
};

struct Gid {
  std::string index, text, type;  // "3", "0000:...:ffff:0a00:0001", "RoCE v2"

  bool is_link_local() const { return text.starts_with("fe80:"); }
};

// Names of the devices that Chime's kernels can drive, and of the others.
std::vector<std::string> mlx5_devices(const Root& root);
std::vector<std::string> other_rdma_devices(const Root& root);

std::vector<RdmaPort> mlx5_ports(const Root& root);

// Without the empty ones.
std::vector<Gid> gids_of(const RdmaPort& port, const Root& root);

// "0000:81:00.0"; empty if it is no PCI device.
std::string address_of(const std::string& nic, const Root& root);

}  // namespace chime::doctor
