// The checks of a job: pure functions of what its PEs have said. One machine's are in
// tools/chime-doctor/checks.
#pragma once

#include "host/diagnosis/finding.hpp"
#include "tools/chime-doctor/job/facts.hpp"

namespace chime::doctor {

Findings check_joined(const Job& job);         // all PEs have come, and see one job
Findings check_hosts(const Job& job);          // names, network namespaces, process ids
Findings check_same_versions(const Job& job);  // Chime, drivers, firmware, libraries
Findings check_same_limits(const Job& job);    // ulimit, /dev/shm
Findings check_clocks(const Job& job);         // wall clocks
Findings check_paths(const Job& job);          // TCP from host to host
Findings check_ports(const Job& job);          // NICs: LIDs, GIDs, subnets

// What each host's own checks found, with the hosts that share it.
std::vector<Subject> reports_of_hosts(const Job& job);

}  // namespace chime::doctor
