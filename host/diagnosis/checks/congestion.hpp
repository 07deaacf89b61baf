// What becomes of a RoCE port's packets where a link is full: traffic class, priority, PFC, ECN.
#pragma once

#include "host/diagnosis/facts/rdma.hpp"
#include "host/diagnosis/finding.hpp"
#include "host/diagnosis/machine.hpp"

namespace chime::doctor {

Findings check_congestion(const RdmaPort& port, const Machine& machine);

}  // namespace chime::doctor
