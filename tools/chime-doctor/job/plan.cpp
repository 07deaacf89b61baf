#include "tools/chime-doctor/job/plan.hpp"

#include <set>

namespace chime::doctor {

std::vector<std::size_t> tried_by(std::size_t place, std::size_t n_hosts) {
  std::set<std::size_t> others{0};
  const bool is_every_pair = n_hosts <= kMostForEveryPair;
  for (std::size_t step = 1; step < n_hosts; is_every_pair ? ++step : step *= 2)
    others.insert((place + step) % n_hosts);
  others.erase(place);
  return {others.begin(), others.end()};
}

std::string words_of_plan(std::size_t n_hosts) {
  return n_hosts <= kMostForEveryPair
             ? "every pair"
             : "each host tried the ones 1, 2, 4, ... places further, and the first";
}

}  // namespace chime::doctor
