// The items of n that a thread takes.
#pragma once

#include "kernels/state.cuh"

namespace particles {

// Calls visit(i) for this thread's items of 0 .. n-1. With one lane a thread takes a contiguous
// piece, which keeps its core's cache warm. With many lanes neighbouring threads take neighbouring
// items, which a warp reads at once.
template <int kLanes, class Visit>
CHIME_DEVICE void for_my_items(int n, Visit visit) {
  const int threads = static_cast<int>(exec::grid_threads());
  const int rank = static_cast<int>(exec::grid_rank());
  if constexpr (kLanes == 1) {
    const int end = static_cast<int>(static_cast<std::int64_t>(n) * (rank + 1) / threads);
    for (int i = static_cast<int>(static_cast<std::int64_t>(n) * rank / threads); i < end; ++i)
      visit(i);
  } else {
    for (int i = rank; i < n; i += threads) visit(i);
  }
}

}  // namespace particles
