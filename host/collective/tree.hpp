// The binary tree of a job's PEs by which collective calls meet: PE p above 2p + 1 and 2p + 2.
// Nobody is above PE 0, where calls are decided.
#pragma once

namespace chime::host {

inline int pe_above(int pe) { return (pe - 1) / 2; }

// For each PE right below `pe`, ascending.
template <class Do>
void for_each_below(int pe, int n_pes, Do&& what) {
  for (int below = 2 * pe + 1; below <= 2 * pe + 2 && below < n_pes; ++below) what(below);
}

inline int count_below(int pe, int n_pes) {
  int count = 0;
  for_each_below(pe, n_pes, [&](int) { ++count; });
  return count;
}

}  // namespace chime::host
