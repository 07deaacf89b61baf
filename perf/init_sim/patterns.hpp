// The peers that a PE touches.
#pragma once

#include <string>
#include <vector>

namespace chime::perf {

enum class Pattern { kNone, kHalo, kRandom, kAllToAll };

std::string name_of(Pattern pattern);

// By PE. Halo: the six neighbours in a periodic box that is as near to a cube as n allows; random:
// `degree` others, the same in each run; all-to-all: all others.
std::vector<std::vector<int>> peers_by(Pattern pattern, int n_pes, int degree);

}  // namespace chime::perf
