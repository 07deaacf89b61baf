// The step in pieces, for the modes in which the host drives it: --halo stream and --halo host.
#pragma once

#include "kernels/steps.cuh"

namespace particles {

template <int kLanes, class Real>
CHIME_KERNEL void drift_step(CHIME_GRID_CONSTANT const View<Real> a, std::int64_t step) {
  drift<kLanes>(a, step);
}

template <int kLanes, bool kForceShift, class Real>
CHIME_KERNEL void force_step(CHIME_GRID_CONSTANT const View<Real> a, std::int64_t step, bool kick,
                             bool is_output) {
  compute_forces<kLanes, kForceShift>(a, step, kick, is_output);
}

template <class Real>
CHIME_KERNEL void agree_step(CHIME_GRID_CONSTANT const View<Real> a, std::int64_t step) {
  agree_in_grid(a, step);
}

template <int kLanes, class Real>
CHIME_KERNEL void sum_step(CHIME_GRID_CONSTANT const View<Real> a) {
  sum_system<kLanes>(a);
}

// Packs what each neighbour sees, direction after direction; in each, all x, all y, all z.
template <class Real>
CHIME_KERNEL void pack_step(CHIME_GRID_CONSTANT const View<Real> a, int parity) {
  for (int d = static_cast<int>(exec::block_rank()); d < kDirections;
       d += static_cast<int>(exec::grid_blocks())) {
    const std::int64_t count = a.send_start[d + 1] - a.send_start[d];
    Real* first = a.send + 3 * static_cast<std::int64_t>(a.send_start[d]);
    Real* const to[3] = {first, first + count, first + 2 * count};
    pack(a, d, parity, to);
  }
}

template <class Real>
CHIME_KERNEL void unpack_step(CHIME_GRID_CONSTANT const View<Real> a, int parity) {
  for (int d = static_cast<int>(exec::block_rank()); d < kDirections;
       d += static_cast<int>(exec::grid_blocks())) {
    const int count = a.ghost_start[d + 1] - a.ghost_start[d];
    const Real* from = a.landing + 3 * static_cast<std::int64_t>(a.ghost_start[d]);
    const int ghost = a.own + a.ghost_start[d];
    for (int k = static_cast<int>(exec::thread_rank()); k < count;
         k += static_cast<int>(exec::block_threads())) {
      for (int c = 0; c < 3; ++c) a.x[parity][c][ghost + k] = from[c * count + k];
    }
  }
}

}  // namespace particles
