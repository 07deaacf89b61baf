// Finds the endpoint infos that peers have left with the launcher, one by one, for a transport that
// asks for them while it runs.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

class LauncherEndpointInfos final : public EndpointInfoFinder {
 public:
  // The endpoint infos of the transport of that path. `timeout`: of each (CHIME_INIT_TIMEOUT).
  // `bootstrap` outlives this.
  LauncherEndpointInfos(const bootstrap::Bootstrap& bootstrap, Path path,
                        std::chrono::nanoseconds timeout);

  void look_for(int pe) override;
  std::vector<Found> take() override;

 private:
  using Clock = std::chrono::steady_clock;

  void note(int pe, bootstrap::Answer answer);
  void take_late_ones(std::vector<Found>& found);

  const bootstrap::Bootstrap& bootstrap_;
  const std::string key_;
  const std::chrono::nanoseconds timeout_;
  std::map<int, Clock::time_point> deadlines_;  // of those that are looked for
  std::mutex mutex_;
  std::vector<std::pair<int, bootstrap::Answer>> answers_;  // guarded by mutex_
  std::map<int, bootstrap::Question> questions_;            // last: their answers go to answers_
};

}  // namespace chime::host
