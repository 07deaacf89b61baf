// A host's NIC ports, as peers would address them.
#pragma once

#include "host/diagnosis/machine.hpp"
#include "tools/chime-doctor/job/facts.hpp"

namespace chime::doctor {

// Those that are active, whether CHIME_NIC lets PEs take them or not. None where this Chime has no
// NIC path.
std::vector<PortFacts> port_facts_of(const Machine& machine);

}  // namespace chime::doctor
