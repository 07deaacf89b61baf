// Which hosts try which: every pair of a few hosts, and of many as few as show a firewall.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chime::doctor {

// With more hosts than these, not every pair.
inline constexpr std::size_t kMostForEveryPair = 16;

// The hosts that the one at `place` of `n_hosts` tries, as places that ascend: all others, or, of
// many, those that stand 1, 2, 4, ... places further in a ring, and the first. So each host is
// tried by some log2(n) others, and n log2(n) + n attempts are made.
std::vector<std::size_t> tried_by(std::size_t place, std::size_t n_hosts);

// "every pair".
std::string words_of_plan(std::size_t n_hosts);

}  // namespace chime::doctor
