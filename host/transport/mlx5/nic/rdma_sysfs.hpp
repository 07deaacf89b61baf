// Facts that sysfs gives about RDMA devices, without opening any.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/topology/place.hpp"

namespace chime::host::mlx5 {

struct PortState {
  int number;
  std::string state;  // sysfs: "4: ACTIVE"
  bool is_active() const { return state.find("ACTIVE") != std::string::npos; }
};

// The ports of the device in `directory`, /sys/class/infiniband/<name>; ascending.
std::vector<PortState> ports_in_sysfs(const std::filesystem::path& directory);

// Where the PCI device "0000:81:00.0" stands.
std::filesystem::path pci_device_in_sysfs(const std::string& address);

// The NUMA node and the bridges of the PCI device that `device` leads to; not known if it is not
// there.
topology::Place place_in_sysfs(const std::filesystem::path& device);

// Whether this machine's sysfs lists any RDMA device. Loads nothing.
bool has_rdma_devices();

}  // namespace chime::host::mlx5
