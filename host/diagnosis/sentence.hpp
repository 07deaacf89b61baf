// What init says where a path was wanted and not had: the first finding of chime-doctor's that
// explains it, from the checks that cost nothing. Reads files below /sys and /proc; asks no driver.
#pragma once

#include <string>

#include "host/diagnosis/machine.hpp"

namespace chime::doctor {

// Why a NIC that is wanted cannot be used, and what mends that; empty: no check knows.
std::string why_no_nic(const host::Settings& settings);

// Why a NIC's queues are not in the GPU's memory, and why kernels do not ring the NIC; likewise.
std::string why_queues_are_far(const host::Settings& settings);
std::string why_kernels_do_not_ring(const host::Settings& settings);

// The same of a machine that was looked at.
std::string why_no_nic(const Machine& machine);
std::string why_queues_are_far(const Machine& machine);
std::string why_kernels_do_not_ring(const Machine& machine);

}  // namespace chime::doctor
