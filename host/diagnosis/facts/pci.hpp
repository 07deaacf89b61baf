// The PCI devices that matter, and where they stand in the tree of bridges.
//
// hwloc is not asked: it cannot look at a tree other than this machine's, and the links below
// /sys/bus/pci/devices have every bridge on the way. host/topology agrees with them, because hwloc
// reads the same links.
#pragma once

#include <string>
#include <vector>

#include "host/diagnosis/root.hpp"

namespace chime::doctor {

struct PciDevice {
  std::string address;             // "0000:81:00.0"
  std::string folder;              // "/sys/bus/pci/devices/0000:81:00.0"
  std::vector<std::string> parts;  // "pci0000:80", "0000:80:01.0", ...: root complex, then bridges
  long long numa_node;             // -1: not known
  long long socket;                // that the node's processors are in; -1: not known
  std::string driver;              // "nvidia", "nouveau"; empty: none
};

// Without those that vfio's drivers hold for programs in user space, such as virtual machines.
std::vector<PciDevice> nvidia_gpus(const Root& root);
bool vfio_holds_gpus(const Root& root);
// Those that the driver mlx5 has, or would have if it were loaded.
std::vector<PciDevice> mlx5_nics(const Root& root);

// Whether a Mellanox NIC with this PCI device id is of mlx4 or an older driver.
bool is_older_than_mlx5(long long device_id);

// How far from each other, the nearest first. The words are of nvidia-smi topo: PIX or PXB, PHB,
// NODE; SYS is kSocket, of sockets with several NUMA nodes, and kSystem.
enum class Distance { kSwitch, kRootComplex, kNumaNode, kSocket, kSystem };
Distance distance_between(const PciDevice& a, const PciDevice& b);

// The nearest of `nics`, the first among equals; null if there is none.
const PciDevice* nearest(const PciDevice& gpu, const std::vector<PciDevice>& nics);

// The bridges of a's way to b below the last one that they share: where ACS may turn a request
// away.
std::vector<std::string> bridges_towards(const PciDevice& a, const PciDevice& b);

// Whether this container shows no devices at all.
bool sys_is_hidden(const Root& root);

}  // namespace chime::doctor
