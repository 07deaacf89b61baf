// A meeting of a test's PEs that have only a bootstrap, which has no barrier: each PE publishes an
// endpoint info; PE 0 finds them all and publishes one that all others find.
#pragma once

#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "bootstrap/bootstrap.hpp"

namespace chime::bootstrap::test {

// How often `rank` of a job has met: a launcher keeps the endpoint infos, so each meeting has a
// separate key.
inline int next_meeting_of(const Bootstrap& job) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, int>, int> meetings;
  const std::lock_guard lock(mutex);
  return ++meetings[{job.job_id(), job.rank()}];
}

// Returns when all PEs have called it as often as this one. Throws BootstrapError at `deadline`,
// and when PE 0, or on PE 0 any PE, is known to be gone without having called it.
inline void meet(Bootstrap& job,
                 Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)) {
  const std::string key = "meeting " + std::to_string(next_meeting_of(job));
  if (job.rank() == 0) {
    for (int pe = 1; pe < job.size(); ++pe) job.lookup(pe, key, deadline);
    return job.publish(key, {});
  }
  // PE 0 may hold the hub and end after its meeting, so this PE asks before it publishes.
  std::promise<Answer> met;
  auto future = met.get_future();
  const Question question =
      job.ask(0, key, [&](Answer answer) { met.set_value(std::move(answer)); });
  job.publish(key, {});
  if (future.wait_until(deadline) != std::future_status::ready)
    throw BootstrapError("PE 0 has not met the others in time", CHIMEX_ERR_TIMEOUT);
  if (const Answer answer = future.get(); answer.code != CHIMEX_OK)
    throw BootstrapError("meeting PE 0: " + answer.why, answer.code);
}

}  // namespace chime::bootstrap::test
