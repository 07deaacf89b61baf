// What ended each wait: the PE, and since when it was under way.
#pragma once

#include <optional>
#include <vector>

#include "timeline.hpp"

struct Cause {
  int pe;
  std::int64_t begin_ns;  // of the operation that sent it, or of the other PE's same call
};

// For each span, if it is a wait or a call that meets, and the cause is on the timeline.
//
// A call that meets, but for a broadcast, is ended by the member that came last: the same call of
// the same team, counted from the beginning, on each PE. A wait in it, for one PE, by that one's
// call.
std::vector<std::optional<Cause>> find_causes(const Timeline& timeline);

// How long the wait had lasted when its cause began: the other side was late by this.
std::int64_t late_ns(const Span& wait, const Cause& cause);
