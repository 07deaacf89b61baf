// Velocity Verlet: kick and drift of this PE's own atoms. Masses are 1.
#pragma once

#include "kernels/range.cuh"

namespace particles {

// First half of step `step`: v += f dt/2, x += v dt. Positions of the last step are read from one
// parity and written to the other, because peers' ghosts of this step may already arrive while
// others still read the last one. Sets `moved` if an atom has moved so far since the last rebuild
// that a list could lack a pair.
template <int kLanes, class Real>
CHIME_DEVICE void drift(const View<Real>& a, std::int64_t step) {
  const int now = static_cast<int>(step & 1), before = 1 - now;
  bool has_moved = false;
  for_my_items<kLanes>(a.own, [&](int i) {
    Real distance2 = 0;
    for (int d = 0; d < 3; ++d) {
      const Real v = a.v[d][i] + a.half_dt * a.f[d][i];
      const Real x = a.x[before][d][i] + a.dt * v;
      const Real delta = x - a.x_built[d][i];
      a.v[d][i] = v;
      a.x[now][d][i] = x;
      distance2 += delta * delta;
    }
    has_moved |= distance2 > a.limit2;
  });
  // Read after the grid's next barrier (agree.cuh).
  if (has_moved) exec::st<exec::Order::kRelaxed, exec::Scope::kDevice>(&a.moved[now], step);
}

// Second half of the step's kick: v += f dt/2.
template <class Real>
CHIME_DEVICE void finish_kick(const View<Real>& a, int i) {
  for (int d = 0; d < 3; ++d) a.v[d][i] += a.half_dt * a.f[d][i];
}

}  // namespace particles
