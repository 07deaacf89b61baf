#include "host/transport/mlx5/nic/rdma_sysfs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace chime::host::mlx5 {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

// libibverbs looks where SYSFS_PATH points; so does Chime.
fs::path sysfs_root() {
  const char* path = ::getuid() == ::geteuid() ? std::getenv("SYSFS_PATH") : nullptr;
  return path ? path : "/sys";
}

}  // namespace

std::vector<PortState> ports_in_sysfs(const fs::path& directory) {
  std::vector<PortState> ports;
  std::error_code error;
  for (const auto& port : fs::directory_iterator(directory / "ports", error))
    ports.push_back({std::atoi(port.path().filename().c_str()), first_line(port.path() / "state")});
  std::ranges::sort(ports, {}, &PortState::number);
  return ports;
}

fs::path pci_device_in_sysfs(const std::string& address) {
  return sysfs_root() / "bus/pci/devices" / address;
}

// Such a path is /sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0: a root, bridges, the device.
topology::Place place_in_sysfs(const fs::path& device) {
  std::error_code error;
  const fs::path real = fs::canonical(device, error);
  if (error) return {};
  topology::Place place{{"the machine"}};
  if (const std::string node = first_line(real / "numa_node"); !node.empty() && node != "-1")
    place.parts.push_back("NUMA node " + node);
  bool is_below_root = false;
  for (const fs::path& part : real.parent_path()) {
    const std::string name = part.string();
    if (is_below_root) place.parts.push_back("PCI bridge " + name);
    if (!is_below_root && name.starts_with("pci")) {
      place.parts.push_back("host bridge " + name.substr(3));
      is_below_root = true;
    }
  }
  return place;
}

bool has_rdma_devices() {
  std::error_code error;
  const fs::directory_iterator devices(sysfs_root() / "class/infiniband", error), end;
  return !error && devices != end;
}

}  // namespace chime::host::mlx5
