// Which update of a word ended a wait: arrows from operations to waits.
//
// The value that the wait saw names a set of that value; of additions, the one with which the sum
// of all before it reaches the value. Where neither fits (another word of several, a word that the
// program also stores to), it is the last update that began before the wait ended. An update that
// began later cannot have ended it.
#pragma once

#include <cstddef>
#include <vector>

#include "host/trace/merge/parts.hpp"

namespace chime::trace {

// Indices of spans.
struct Arrow {
  std::size_t from, to;
};

// `spans` by time.
std::vector<Arrow> find_arrows(const std::vector<Span>& spans);

}  // namespace chime::trace
