// Which of a machine's NICs a PE may take, by CHIME_NIC. Checks judge no others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/diagnosis/facts/pci.hpp"
#include "host/diagnosis/facts/rdma.hpp"
#include "host/diagnosis/machine.hpp"
#include "host/options/nic.hpp"

namespace chime::doctor {

// A device, and perhaps a port of it.
struct NamedNic {
  std::string device;               // "mlx5_0"
  std::optional<std::string> port;  // "1"; absent: any

  // Whether a finding at `where` is about it: "mlx5_0", "mlx5_0 port 1".
  bool is_at(const std::string& where) const;
};

// Absent: CHIME_NIC leaves the choice to Chime, or takes none or the emulated one.
std::optional<NamedNic> named_nic(const host::NicOptions& nic);

// Whether it takes none, or the emulated one.
bool takes_no_device(const host::NicOptions& nic);

// Whether a PE may take the device or port at `where`.
bool may_take(const host::NicOptions& nic, const std::string& where);

// Whether CHIME_NIC names a device or port that is not there, or is not mlx5's: a PE refuses it
// (host/transport/mlx5/nic/device_choice.cpp).
bool names_no_mlx5_port(const Machine& machine);

std::vector<std::string> devices_to_take(const Machine& machine);
std::vector<RdmaPort> ports_to_take(const Machine& machine);
// All, where files do not tell which of them CHIME_NIC names.
std::vector<PciDevice> pci_nics_to_take(const Machine& machine);

}  // namespace chime::doctor
