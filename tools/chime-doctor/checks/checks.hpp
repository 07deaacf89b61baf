// The checks that chime-doctor alone makes: they ask libraries and drivers. Others, which init
// makes, too, are in host/diagnosis. Each comment in their sources says where its rule is from.
#pragma once

#include "host/diagnosis/checks/checks.hpp"

namespace chime::doctor {

Findings check_driver(const Machine& machine);   // kernel module, libcuda, CUDA, GPUDirect
Findings check_launch(const Machine& machine);   // PMIx, Slurm, libfabric, hwloc
Findings check_network(const Machine& machine);  // loopback, the interfaces that were chosen
Findings check_chime(const Machine& machine);    // versions of Chime, values of its variables

}  // namespace chime::doctor
