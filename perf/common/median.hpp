// The middle one of several figures: what ratios of turns are told by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace chime::perf {

// Of an even number: the upper of the two in the middle. REQUIRES: there is one.
inline double median(std::vector<double> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace chime::perf
