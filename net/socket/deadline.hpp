// When a wait ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <climits>

namespace chime::net {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

// For poll and its kind: rounded up, so that a wait does not end before its deadline; 0 when it has
// passed.
inline int milliseconds_until(Deadline deadline) {
  if (deadline == Deadline::max()) return INT_MAX;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, INT_MAX));
}

}  // namespace chime::net
