// What the PEs of a job publish for each other, and ask for.
#pragma once

#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "tools/chime-doctor/job/facts.hpp"
#include "tools/chime-doctor/job/targets.hpp"

namespace chime::doctor {

// Each PE's.
void publish_facts(bootstrap::Bootstrap& job, const PeFacts& facts);
void publish_pairs(bootstrap::Bootstrap& job, const PairFacts& found);

// PE 0's.
void publish_hosts(bootstrap::Bootstrap& job, const std::vector<HostAddresses>& hosts);
void publish_code(bootstrap::Bootstrap& job, int code);
// The facts of all PEs that come by the deadline.
Job ask_all(bootstrap::Bootstrap& bootstrap, bootstrap::Deadline deadline);
// Adds what the hosts' PEs have found to `job`.
void ask_pairs(bootstrap::Bootstrap& bootstrap, const std::vector<HostAddresses>& hosts, Job& job,
               bootstrap::Deadline deadline);
// Until the PEs of `job` have the code: a launcher may forget what a process that ended has
// published.
void wait_until_heard(bootstrap::Bootstrap& bootstrap, const Job& job,
                      bootstrap::Deadline deadline);

// The others'. Throw BootstrapError.
std::vector<HostAddresses> hosts_by_first(bootstrap::Bootstrap& job, bootstrap::Deadline deadline);
int code_by_first(bootstrap::Bootstrap& job, bootstrap::Deadline deadline);

}  // namespace chime::doctor
