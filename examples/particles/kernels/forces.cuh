// Forces on this PE's atoms, and the second half of their kick.
#pragma once

#include "kernels/motion.cuh"
#include "kernels/row.cuh"

namespace particles {

template <int kLanes, bool kForceShift, bool kOutput, class Real>
CHIME_DEVICE void compute_forces_as(const View<Real>& a, std::int64_t step, bool kick) {
  const Real* const* x = a.x[step & 1];
  for_my_items<kLanes>(a.own, [&](int i) {
    const RowSum<Real> sum = sum_row<kLanes, kForceShift, kOutput>(a, x[0], x[1], x[2], i);
    for (int d = 0; d < 3; ++d) a.f[d][i] = sum.f[d];
    if (kick) finish_kick(a, i);
    if constexpr (kOutput) {
      a.energy[i] = sum.energy;
      a.virial[i] = sum.virial;
    }
  });
}

// Energies and virials are computed only where they are printed.
template <int kLanes, bool kForceShift, class Real>
CHIME_DEVICE void compute_forces(const View<Real>& a, std::int64_t step, bool kick,
                                 bool is_output) {
  if (is_output) {
    compute_forces_as<kLanes, kForceShift, true>(a, step, kick);
  } else {
    compute_forces_as<kLanes, kForceShift, false>(a, step, kick);
  }
}

}  // namespace particles
