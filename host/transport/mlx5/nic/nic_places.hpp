// Where NICs are in the machine, and what the chosen one shall be near: the PE's GPU, or the
// processors on which its kernels run.
//
// hwloc finds both. Where it is not there, or does not list one of the devices, the PCI tree as
// sysfs shows it stands in, which knows of no package.
#pragma once

#include <span>
#include <string>

#include "host/topology/machine.hpp"
#include "host/transport/mlx5/nic/device_choice.hpp"

namespace chime::host::mlx5 {

// Fills in the places of `candidates`; returns the place that the NIC shall be near. `gpu`:
// "0000:81:00.0", empty for the CPU device.
Goal find_places(std::span<Candidate> candidates, const std::string& gpu,
                 const topology::Machine& machine);

}  // namespace chime::host::mlx5
