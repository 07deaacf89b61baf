// Which NIC and port a PE uses. A pure function of what the machine has; sysfs tells that without
// opening a device.
//
// Distance is read off the PCI tree as sysfs shows it: devices below one switch share more of their
// path. (hwloc finds the same in the same files, after discovering the whole machine: tens of
// milliseconds of every start, and it does not look where SYSFS_PATH points.)
#pragma once

#include <span>
#include <string>
#include <vector>

namespace chime::host::mlx5 {

// Where a device hangs: "/sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0". Empty if unknown.
struct PciPlace {
  std::string path;
  int numa_node = -1;
};

struct PortState {
  int number;
  std::string state;  // sysfs: "4: ACTIVE"
  bool is_active() const { return state.find("ACTIVE") != std::string::npos; }
};

struct Candidate {
  std::string name;
  bool is_mlx5;
  PciPlace place;
  std::vector<PortState> ports;
};

struct ChosenPort {
  std::size_t device;  // index of the candidate
  int port;
};

// `wanted`: "auto" or "soft" (the active mlx5 port that is nearest to `gpu`; among those of equally
// near devices the one whose turn it is: `turn` counts PEs from 0), or "<name>" or "<name>:<port>".
// Throws Error that names the devices that are there.
ChosenPort choose_port(std::span<const Candidate> candidates, const std::string& wanted,
                       const PciPlace& gpu, int turn);

// Ports of `/sys/class/infiniband/<name>`; `directory` is that folder.
Candidate read_candidate(const std::string& name, const std::string& directory, bool is_mlx5);

// The place of the PCI device "0000:81:00.0"; an empty address gives an unknown place.
PciPlace place_of_pci_device(const std::string& address);

// Whether this machine's sysfs lists any RDMA device. Loads nothing.
bool has_rdma_devices();

}  // namespace chime::host::mlx5
