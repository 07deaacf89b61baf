// The checks: pure functions of a machine. Each comment in their sources says where its rule is
// from.
#pragma once

#include "tools/chime-doctor/finding.hpp"
#include "tools/chime-doctor/machine.hpp"

namespace chime::doctor {

Findings check_driver(const Machine& machine);      // kernel module, libcuda, CUDA, GPUDirect
Findings check_gpu_memory(const Machine& machine);  // BAR1, dma-buf or peermem, doorbells
Findings check_pcie(const Machine& machine);        // IOMMU, ACS, distances, lanes
Findings check_nics(const Machine& machine);        // devices, links, DevX, rdma-core, counters
Findings check_roce(const Machine& machine);        // addresses, MTU, traffic class, ECN
Findings check_limits(const Machine& machine);      // ulimit, /dev/shm, overcommit, huge pages
Findings check_launch(const Machine& machine);      // PMIx, Slurm, libfabric, hwloc
Findings check_network(const Machine& machine);     // loopback, the interfaces that were chosen
Findings check_chime(const Machine& machine);       // versions of Chime, values of its variables

}  // namespace chime::doctor
