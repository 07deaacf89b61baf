// The wait of a loop that has nothing to do: for descriptors, and until the next thing is due.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <vector>

#include "crews/crew.hpp"

namespace chime::run {

inline std::optional<Clock::time_point> earliest(
    std::initializer_list<std::optional<Clock::time_point>> events) {
  std::optional<Clock::time_point> first;
  for (const auto& event : events)
    if (event && (!first || *event < *first)) first = event;
  return first;
}

inline void wait_for(std::vector<pollfd>& polled, std::optional<Clock::time_point> next) {
  int wait_ms = -1;
  if (next) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
    wait_ms = static_cast<int>(std::clamp<long long>(left, 0, 60'000));
  }
  poll(polled.data(), polled.size(), wait_ms);
}

inline Clock::duration in_seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

}  // namespace chime::run
