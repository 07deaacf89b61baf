// Do the hosts' wall clocks show the same time?
//
// Chime itself needs none: waits go by the monotonic clock. But logs and traces of several hosts
// are put together by it, and certificates and files on network folders stand by it.
#include <fmt/format.h>

#include <cmath>

#include "tools/chime-doctor/job/checks/checks.hpp"
#include "tools/chime-doctor/job/names.hpp"

namespace chime::doctor {
namespace {

// Clocks that NTP keeps are within milliseconds of each other.
constexpr double kMostSeconds = 0.1;

std::string in_milliseconds(double seconds) { return fmt::format("{:.3g} ms", seconds * 1e3); }

}  // namespace

Findings check_clocks(const Job& job) {
  const std::vector<Node> nodes = nodes_of(job);
  const std::size_t n_others = nodes.size() - 1;
  Findings findings;
  double most = 0;
  for (const ClockFacts& clock : job.found.clocks) {
    const std::string host = words_of_node_at(clock.pe, nodes);
    most = std::max(most, std::abs(clock.ahead_s) + clock.bound_s);
    if (std::abs(clock.ahead_s) - clock.bound_s <= kMostSeconds) continue;
    findings.push_back(
        {Level::kWarning, "clock", host,
         fmt::format("{:.3g} s {} the clock of {} (to within {}): times in their logs do not fit",
                     std::abs(clock.ahead_s), clock.ahead_s > 0 ? "ahead of" : "behind",
                     words_of_node_at(clock.than, nodes), in_milliseconds(clock.bound_s)),
         "timedatectl set-ntp true, or chronyc makestep, on both hosts"});
  }
  if (findings.empty() && !job.found.clocks.empty())
    findings.push_back(ok("clock", "",
                          fmt::format("{} of {} other host{} compared: within {} of the one of {}",
                                      job.found.clocks.size(), n_others, n_others == 1 ? "" : "s",
                                      in_milliseconds(most),
                                      words_of_node_at(job.found.clocks.front().than, nodes))));
  return findings;
}

}  // namespace chime::doctor
