// The median of several figures: used for ratios of turns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace chime::perf {

// If their number is even: the upper of the two in the middle. REQUIRES: there is one.
inline double median(std::vector<double> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace chime::perf
