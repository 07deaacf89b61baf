// What this PE says of itself and of its host.
#pragma once

#include "host/diagnosis/machine.hpp"
#include "tools/chime-doctor/job/facts.hpp"

namespace chime::doctor {

PeFacts facts_of_pe(int pe, const Machine& machine);

// `machine` has been looked at. Without listening addresses.
HostFacts facts_of_host(const Machine& machine);

}  // namespace chime::doctor
