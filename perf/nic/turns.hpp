// Ours beside a rival, measured in turns of a few milliseconds.
//
// The best of many turns shows how fast each can be. But the threads of a program and of two
// engines share two cores, and the sharing changes from turn to turn by a factor of two. So a ratio
// of two bests depends on luck. The ratio is taken within each turn, and the median of these is
// reported.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"
#include "median.hpp"

namespace chime::perf {

class Turns {
 public:
  // Adds one turn, in us; kNotMeasured if host code cannot be measured.
  void take(double rival, double host, double thread) {
    rival_.take(rival);
    host_.take(host);
    thread_.take(thread);
    host_ratios_.push_back(host / rival);
    thread_ratios_.push_back(thread / rival);
  }

  static std::vector<std::string> columns() {
    return {"verbs (us)", "Host (us)", "Thread (us)", "Host/verbs", "Thread/verbs"};
  }
  std::vector<double> row() const {
    return {rival_.value(), host_.value(), thread_.value(), median(host_ratios_),
            median(thread_ratios_)};
  }

 private:
  Best rival_, host_, thread_;
  std::vector<double> host_ratios_, thread_ratios_;
};

}  // namespace chime::perf
