// Ours beside a rival, measured in turns of a few milliseconds.
//
// The best of many turns is how fast each can be. The threads of a program and of two engines share
// two cores, and which of them share one changes from turn to turn by a factor of two; so a ratio
// of two bests says who was lucky. The ratio is taken within each turn, and the median of those is
// told.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"
#include "median.hpp"

namespace chime::perf {

class Turns {
 public:
  // One turn, in us; kNotMeasured where host code cannot be measured.
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
