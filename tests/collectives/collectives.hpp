// What members bring to a collective, and what they ought to get: computed by the test alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "support/typed.hpp"
#include "teams/teams.hpp"

namespace chime::tests {

template <class Group>
inline constexpr unsigned kGroupThreads = 1;
template <>
inline constexpr unsigned kGroupThreads<Warp> = 32;
template <>
inline constexpr unsigned kGroupThreads<Block> = 70;

// Element i of PE `pe`: other ones in each round, and of an order that matters to floating point.
template <class T>
T brought(int pe, std::size_t i, int round) {
  const auto mixed =
      (static_cast<std::uint32_t>(pe) * 2654435761u ^ static_cast<std::uint32_t>(i) * 40503u ^
       static_cast<std::uint32_t>(round) * 97u) >>
      7;
  if constexpr (std::is_integral_v<T>) return static_cast<T>(mixed);
  return static_cast<T>(static_cast<double>(mixed % 2048) / 3 - 300);  // no sum is exact
}
template <class T>
std::vector<T> brought_by(int pe, std::size_t count, int round) {
  std::vector<T> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(brought<T>(pe, i, round));
  return all;
}

// Combines neighbours in pairs, then pairs of pairs. A value without a neighbour joins a later
// pair.
template <class A, class Apply>
A in_a_tree(std::vector<A> values, Apply apply) {
  while (values.size() > 1) {
    std::vector<A> next;
    for (std::size_t i = 0; i < values.size(); i += 2)
      next.push_back(i + 1 < values.size() ? apply(values[i], values[i + 1]) : values[i]);
    values = next;
  }
  return values[0];
}

// CHIME_TIMEOUT, of which facts about it wait some; 0: it is longer than a test may wait.
inline unsigned short_timeout_s() {
  const char* const timeout = std::getenv("CHIME_TIMEOUT");
  const int seconds = timeout == nullptr ? 0 : std::atoi(timeout);
  return seconds > 0 && seconds <= 5 ? static_cast<unsigned>(seconds) : 0;
}

// A team may have members that this PE is not one of. All PEs go through the same teams.
template <class Body>
void for_each_team(Pe& pe, Body body) {
  for (const Shape& shape : shapes_of(pe.size())) {
    const Made team(CHIME_TEAM_WORLD, shape);
    SCOPED_TRACE("team " + shape.name);
    body(static_cast<chime_team_t>(team), shape.pes());
    pe.barrier();
  }
}

}  // namespace chime::tests
