// The atoms that each neighbour sees: those within reach of its box.
#pragma once

#include "kernels/halo.cuh"
#include "kernels/range.cuh"

namespace particles {

// Calls visit(d) for each direction in which the neighbour sees the position.
template <class Real, class Visit>
CHIME_DEVICE void for_each_observer(const View<Real>& a, const Real x[3], Visit visit) {
  bool near[3][3];  // per coordinate: near the lower face, anywhere, near the upper face
  for (int c = 0; c < 3; ++c) {
    near[c][0] = x[c] < a.mine_lo[c] + a.reach;
    near[c][1] = true;
    near[c][2] = x[c] >= a.mine_hi[c] - a.reach;
  }
  for (int d = 0; d < kDirections; ++d) {
    if (d != kHome && near[0][d % 3] && near[1][d / 3 % 3] && near[2][d / 9]) visit(d);
  }
}

template <int kLanes, class Real>
CHIME_KERNEL void count_observers(CHIME_GRID_CONSTANT const View<Real> a, int parity,
                                  std::int32_t* number) {
  for_my_items<kLanes>(a.own, [&](int i) {
    const Real x[3] = {a.x[parity][0][i], a.x[parity][1][i], a.x[parity][2][i]};
    int count = 0;
    for_each_observer(a, x, [&](int) { ++count; });
    number[i] = count;
  });
}

// `first[i]`: the beginning of atom i's entries. An entry is a direction and the atom.
template <int kLanes, class Real>
CHIME_KERNEL void list_observers(CHIME_GRID_CONSTANT const View<Real> a, int parity,
                                 const std::int32_t* first, std::int32_t* direction,
                                 std::int32_t* atom) {
  for_my_items<kLanes>(a.own, [&](int i) {
    const Real x[3] = {a.x[parity][0][i], a.x[parity][1][i], a.x[parity][2][i]};
    int k = first[i];
    for_each_observer(a, x, [&](int d) {
      direction[k] = d;
      atom[k] = i;
      ++k;
    });
  });
}

// The first exchange after new lists: sends, and returns when all ghosts are here.
template <class Real>
CHIME_KERNEL void exchange_ghosts(CHIME_GRID_CONSTANT const View<Real> a, int parity,
                                  std::uint64_t exchange) {
  send_ghosts(a, parity, exchange);
  wait_for_ghosts(a, exchange);
}

}  // namespace particles
