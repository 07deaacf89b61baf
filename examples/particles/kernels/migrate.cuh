// Atoms change owner: wraps them into the box, finds those that left, sends the emigrants, and adds
// the immigrants.
#pragma once

#include <cmath>

#include "kernels/halo.cuh"
#include "kernels/range.cuh"

namespace particles {

// Positions, velocities and identities while the order of atoms changes. Private memory.
template <class Real>
struct Scratch {
  Real* x[3];
  Real* v[3];
  std::int64_t* id;
  std::int32_t* image[3];
};

// Puts atom i back into the periodic box. Round-off may leave it on the upper bound, which counts
// as inside.
template <class Real>
CHIME_DEVICE void wrap(const View<Real>& a, int parity, int i) {
  for (int d = 0; d < 3; ++d) {
    Real& x = a.x[parity][d][i];
    if (x < a.box_lo[d]) {
      x += a.box_length[d];
      --a.image[d][i];
    } else if (x >= a.box_lo[d] + a.box_length[d]) {
      x -= a.box_length[d];
      ++a.image[d][i];
    }
  }
}

inline constexpr int kLost = -1;  // route of an atom that no neighbour owns

// -1, 0 or 1: the offset of the slice that holds x from this PE's slice. With two slices both
// directions lead to the same PE. Any other value is further than a healthy atom moves between
// rebuilds.
template <class Real>
CHIME_DEVICE int offset_to(const View<Real>& a, int d, Real x) {
  const int slices = a.grid[d];
  int slice = static_cast<int>(std::floor((x - a.box_lo[d]) / a.box_length[d] * Real(slices)));
  slice = slice < 0 ? 0 : slice >= slices ? slices - 1 : slice;
  const int offset = slice - a.coordinate[d];
  if (offset == slices - 1 && slices > 1) return -1;
  if (offset == 1 - slices && slices > 1) return 1;
  return offset;
}

// The direction of each atom's owner; kHome for those that stay, kLost if no neighbour owns it:
// then the system has come apart.
template <int kLanes, class Real>
CHIME_KERNEL void route_atoms(CHIME_GRID_CONSTANT const View<Real> a, int parity,
                              std::int32_t* route) {
  for_my_items<kLanes>(a.own, [&](int i) {
    wrap(a, parity, i);
    int direction = 0;
    bool is_lost = false;
    for (int d = 2; d >= 0; --d) {
      const Real x = a.x[parity][d][i];
      const bool is_inside =
          x >= a.box_lo[d] && x <= a.box_lo[d] + a.box_length[d];  // false for NaN, too
      const int offset = is_inside ? offset_to(a, d, x) : 2;
      is_lost |= offset < -1 || offset > 1;
      direction = 3 * direction + 1 + offset;
    }
    route[i] = is_lost ? kLost : direction;
  });
}

// Copies those that stay to the scratch arrays.
template <int kLanes, class Real>
CHIME_KERNEL void keep_atoms(CHIME_GRID_CONSTANT const View<Real> a, int parity,
                             const std::int32_t* stays, int count,
                             CHIME_GRID_CONSTANT const Scratch<Real> to) {
  for_my_items<kLanes>(count, [&](int k) {
    const int i = stays[k];
    to.id[k] = a.id[i];
    for (int d = 0; d < 3; ++d) {
      to.x[d][k] = a.x[parity][d][i];
      to.v[d][k] = a.v[d][i];
      to.image[d][k] = a.image[d][i];
    }
  });
}

// Copies those that leave, sorted by direction, to `departures`.
template <int kLanes, class Real>
CHIME_KERNEL void pack_travellers(CHIME_GRID_CONSTANT const View<Real> a, int parity,
                                  const std::int32_t* leaves, int count) {
  for_my_items<kLanes>(count, [&](int k) {
    const int i = leaves[k];
    Traveller<Real>& t = a.departures[k];
    t.id = a.id[i];
    for (int d = 0; d < 3; ++d) {
      t.x[d] = a.x[parity][d][i];
      t.v[d] = a.v[d][i];
      t.image[d] = a.image[d][i];
    }
  });
}

struct TravelArguments {
  int start[kDirections + 1];    // which departures go in each direction
  int peer_offset[kDirections];  // where in the neighbour's arrivals
  std::uint64_t rebuild;
};

// One block: sends the departures and returns when the arrivals are here. The space of arrivals is
// free: the neighbours got their places after the last arrivals had been taken in.
template <class Real>
CHIME_KERNEL void travel(CHIME_GRID_CONSTANT const View<Real> a,
                         CHIME_GRID_CONSTANT const TravelArguments args) {
  // The template, which does not meet at entry: an earlier kernel has packed its input.
  for (int d = 0; d < kDirections; ++d) {
    if (d == kHome) continue;
    const std::size_t bytes = (args.start[d + 1] - args.start[d]) * sizeof(Traveller<Real>);
    chime::putmem_signal_nbi(
        chime::self(), chime::Block{}, a.arrivals + args.peer_offset[d],
        a.departures + args.start[d], bytes,
        {&a.board->slot[opposite(d)].travellers, args.rebuild, chime::SignalOp::kSet},
        a.neighbour[d]);
  }
  for (int d = static_cast<int>(exec::thread_rank()); d < kDirections;
       d += static_cast<int>(exec::block_threads())) {
    if (d != kHome)
      chime_signal_wait_until(&a.board->slot[d].travellers, CHIME_CMP_GE, args.rebuild);
  }
  exec::sync_block();
  if (exec::thread_rank() == 0) chime_quiet();  // departures may be packed again
}

// Appends the arrivals to those that stayed.
template <int kLanes, class Real>
CHIME_KERNEL void admit_travellers(CHIME_GRID_CONSTANT const View<Real> a, int stayed, int arrived,
                                   CHIME_GRID_CONSTANT const Scratch<Real> to) {
  for_my_items<kLanes>(arrived, [&](int k) {
    const Traveller<Real>& t = a.arrivals[k];
    to.id[stayed + k] = t.id;
    for (int d = 0; d < 3; ++d) {
      to.x[d][stayed + k] = t.x[d];
      to.v[d][stayed + k] = t.v[d];
      to.image[d][stayed + k] = t.image[d];
    }
  });
}

// Writes atoms in their new order back to the arrays of the steps.
template <int kLanes, class Real>
CHIME_KERNEL void settle_atoms(CHIME_GRID_CONSTANT const View<Real> a, int parity,
                               CHIME_GRID_CONSTANT const Scratch<Real> from,
                               const std::int32_t* order, int count) {
  for_my_items<kLanes>(count, [&](int k) {
    const int i = order[k];
    a.id[k] = from.id[i];
    for (int d = 0; d < 3; ++d) {
      a.x[parity][d][k] = from.x[d][i];
      a.x_built[d][k] = from.x[d][i];
      a.v[d][k] = from.v[d][i];
      a.image[d][k] = from.image[d][i];
    }
  });
}

}  // namespace particles
