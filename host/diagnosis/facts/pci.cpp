#include "host/diagnosis/facts/pci.hpp"

#include <algorithm>
#include <sstream>

namespace chime::doctor {
namespace {

constexpr char kDevices[] = "/sys/bus/pci/devices/";
constexpr long long kNvidia = 0x10de, kMellanox = 0x15b3;

// The first of a class's three bytes: 0x02 network controllers, 0x03 display and 3D controllers.
constexpr long long kNetwork = 0x02, kDisplay = 0x03;

// Connect-IB: Linux, drivers/net/ethernet/mellanox/mlx5/core/main.c.
constexpr long long kFirstOfMlx5 = 0x1011;

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream whole(path);
  for (std::string part; std::getline(whole, part, '/');)
    if (!parts.empty() || part.starts_with("pci")) parts.push_back(part);
  if (!parts.empty()) parts.pop_back();  // the device
  return parts;
}

// The socket of the node's first processor: Linux, Documentation/ABI/stable/sysfs-devices-node
// (cpulist: "0-47,96-143") and stable/sysfs-devices-system-cpu.
long long socket_of(long long numa_node, const Root& root) {
  const auto first =
      root.number("/sys/devices/system/node/node" + std::to_string(numa_node) + "/cpulist");
  if (!first) return -1;
  const std::string processor = "/sys/devices/system/cpu/cpu" + std::to_string(*first);
  return root.number(processor + "/topology/physical_package_id").value_or(-1);
}

std::vector<PciDevice> pci_devices(const Root& root, long long vendor, long long kind) {
  std::vector<PciDevice> found;
  for (const std::string& address : root.names(kDevices)) {
    const std::string folder = kDevices + address;
    const auto type = root.number(folder + "/class");
    if (root.number(folder + "/vendor") != vendor || !type || *type >> 16 != kind) continue;
    const long long numa_node = root.number(folder + "/numa_node").value_or(-1);
    found.push_back({address, folder, parts_of(root.resolved(folder).value_or("")), numa_node,
                     socket_of(numa_node, root), root.name_behind(folder + "/driver")});
  }
  return found;
}

// Linux: vfio-pci and its variants, such as nvgrace_gpu_vfio_pci and mlx5_vfio_pci.
bool is_held_by_vfio(const PciDevice& device) {
  return device.driver.find("vfio") != std::string::npos;
}

std::size_t shared(const PciDevice& a, const PciDevice& b) {
  const auto end =
      std::mismatch(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end()).first;
  return static_cast<std::size_t>(end - a.parts.begin());
}

}  // namespace

std::vector<PciDevice> nvidia_gpus(const Root& root) {
  auto gpus = pci_devices(root, kNvidia, kDisplay);
  std::erase_if(gpus, is_held_by_vfio);
  return gpus;
}

bool vfio_holds_gpus(const Root& root) {
  return std::ranges::any_of(pci_devices(root, kNvidia, kDisplay), is_held_by_vfio);
}

std::vector<PciDevice> mlx5_nics(const Root& root) {
  auto nics = pci_devices(root, kMellanox, kNetwork);
  std::erase_if(nics, [&](const PciDevice& nic) {
    const bool has_other_driver = !nic.driver.empty() && !nic.driver.starts_with("mlx5");
    return has_other_driver || is_held_by_vfio(nic) ||
           is_older_than_mlx5(root.number(nic.folder + "/device").value_or(kFirstOfMlx5));
  });
  return nics;
}

// Linux: drivers/net/ethernet/mellanox/mlx4/main.c has 0x1002 to 0x1010 (ConnectX-3) and 0x6340 to
// 0x676e (ConnectX, ConnectX-2), drivers/infiniband/hw/mthca/mthca_main.c 0x5a44 to 0x6282.
bool is_older_than_mlx5(long long device_id) {
  return device_id < kFirstOfMlx5 || (device_id >= 0x5a44 && device_id <= 0x676e);
}

Distance distance_between(const PciDevice& a, const PciDevice& b) {
  const std::size_t parts = shared(a, b);
  if (parts >= 2) return Distance::kSwitch;
  if (parts == 1) return Distance::kRootComplex;
  // Where a node is not known, as in most virtual machines, nothing says that it is another one.
  const bool is_one_node = a.numa_node == b.numa_node || a.numa_node < 0 || b.numa_node < 0;
  if (is_one_node) return Distance::kNumaNode;
  return a.socket >= 0 && a.socket == b.socket ? Distance::kSocket : Distance::kSystem;
}

const PciDevice* nearest(const PciDevice& gpu, const std::vector<PciDevice>& nics) {
  const auto best = std::ranges::min_element(
      nics, {}, [&](const PciDevice& nic) { return distance_between(gpu, nic); });
  return best == nics.end() ? nullptr : &*best;
}

bool sys_is_hidden(const Root& root) { return !root.has("/sys/bus"); }

std::vector<std::string> bridges_towards(const PciDevice& a, const PciDevice& b) {
  const auto first = static_cast<std::ptrdiff_t>(shared(a, b));
  return {a.parts.begin() + first, a.parts.end()};
}

}  // namespace chime::doctor
