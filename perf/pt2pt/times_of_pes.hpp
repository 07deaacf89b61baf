// A time that all PEs have measured: the longest is that of the last member. A broadcast's root
// waits for nobody, so its own time is that of its stores alone.
#pragma once

#include <chime/chime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

namespace chime::perf {

inline constexpr const char* kLongestOfPes = "a figure is the longest of the PEs' times";
inline constexpr const char* kOverlap =
    "times are a loop's, by its calls: those of broadcasts and scans may overlap";

struct Times {
  double longest, shortest, mean;
};

// Made, used and ended by all PEs at once.
class TimesOfPes {
 public:
  TimesOfPes() : all_(static_cast<std::size_t>(chime_n_pes())) {
    times_ = static_cast<double*>(chime_malloc((1 + all_.size()) * sizeof(double)));
    if (times_ != nullptr) return;
    std::fprintf(stderr, "symmetric memory: %s\n", chimex_last_error());
    chime_global_exit(1);
  }
  ~TimesOfPes() { chime_free(times_); }
  TimesOfPes(const TimesOfPes&) = delete;

  Times gather(double mine) {
    chime_barrier_all();  // every PE has read the last ones
    exec::copy(times_, &mine, sizeof(mine));
    if (chime_double_fcollect(CHIME_TEAM_WORLD, times_ + 1, times_, 1) != CHIMEX_OK)
      chime_global_exit(1);
    exec::copy(all_.data(), times_ + 1, all_.size() * sizeof(double));
    const auto [shortest, longest] = std::minmax_element(all_.begin(), all_.end());
    const double sum = std::accumulate(all_.begin(), all_.end(), 0.0);
    return {*longest, *shortest, sum / static_cast<double>(all_.size())};
  }

 private:
  std::vector<double> all_;
  double* times_;  // symmetric: this PE's, then one of each
};

}  // namespace chime::perf
