// How the PEs of a test meet who have a bootstrap and nothing above it, which has no barrier: each
// leaves a card, PE 0 finds them all and leaves one that all others find.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "bootstrap/bootstrap.hpp"

namespace chime::bootstrap::test {

// How often `rank` of a job has met: a launcher keeps the cards, so each time has a key of its own.
inline int next_meeting_of(const Bootstrap& job) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, int>, int> meetings;
  const std::lock_guard lock(mutex);
  return ++meetings[{job.job_id(), job.rank()}];
}

// Returns when all PEs have called it as often as this one has. Throws BootstrapError at
// `deadline`, and when PE 0, or for PE 0 any PE, is known to be gone without having called it.
inline void meet(Bootstrap& job,
                 Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)) {
  const std::string key = "meeting " + std::to_string(next_meeting_of(job));
  if (job.rank() == 0) {
    for (int pe = 1; pe < job.size(); ++pe) job.lookup(pe, key, deadline);
    return job.publish(key, {});
  }
  job.publish(key, {});
  job.lookup(0, key, deadline);
}

}  // namespace chime::bootstrap::test
