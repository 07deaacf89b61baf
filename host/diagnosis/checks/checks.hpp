// The checks of GPUs, NICs and limits: pure functions of a machine. Each comment in their sources
// says where its rule is from.
#pragma once

#include "host/diagnosis/finding.hpp"
#include "host/diagnosis/machine.hpp"

namespace chime::doctor {

Findings check_gpu_memory(const Machine& machine);  // BAR1, dma-buf or peermem, doorbells
Findings check_pcie(const Machine& machine);        // IOMMU, ACS, distances, lanes
Findings check_nics(const Machine& machine);        // devices, links, DevX, rdma-core, counters
Findings check_roce(const Machine& machine);        // addresses, MTU, traffic class, PFC, ECN
Findings check_limits(const Machine& machine);      // ulimit, /dev/shm, overcommit, huge pages

}  // namespace chime::doctor
