// Sums over all atoms of all PEs, bitwise repeatable: threads' parts are added in thread order,
// PEs' in PE order, all with compensation.
#pragma once

#include "kernels/range.cuh"
#include "kernels/sum.cuh"

namespace particles {

CHIME_DEVICE void store_sums(double* to, const Sum sums[kSums]) {
  for (int q = 0; q < kSums; ++q) {
    to[2 * q] = sums[q].high;
    to[2 * q + 1] = sums[q].low;
  }
}

CHIME_DEVICE void add_sums(Sum sums[kSums], const double* from) {
  for (int q = 0; q < kSums; ++q) sums[q].add(Sum{from[2 * q], from[2 * q + 1]});
}

template <int kLanes, class Real>
CHIME_DEVICE void sum_my_atoms(const View<Real>& a, Sum sums[kSums]) {
  for_my_items<kLanes>(a.own, [&](int i) {
    const double v[3] = {double(a.v[0][i]), double(a.v[1][i]), double(a.v[2][i])};
    for (int d = 0; d < 3; ++d) {
      sums[kKinetic2].add(v[d] * v[d]);
      sums[kMomentumX + d].add(v[d]);
    }
    sums[kPotential].add(double(a.energy[i]));
    sums[kVirial].add(double(a.virial[i]));
    sums[kAtoms].add(1.0);
  });
}

// Adds the parts of this block into its first thread's place.
template <class Real>
CHIME_DEVICE void sum_block(const View<Real>& a) {
  exec::sync_block();
  if (exec::thread_rank() != 0) return;
  const std::uint64_t first = exec::grid_rank();
  Sum sums[kSums];
  for (std::uint64_t t = 0; t < exec::block_threads(); ++t)
    add_sums(sums, a.partial + (first + t) * 2 * kSums);
  store_sums(a.partial + first * 2 * kSums, sums);
}

// Adds the sums of all PEs, in PE order, and leaves the total in `partial`. `a.sums` is ready on
// all PEs: one reaches its next output only after a step that all have begun, and so have read what
// they gathered (agree.cuh).
template <class Real>
CHIME_DEVICE void gather_sums(const View<Real>& a) {
  Sum sums[kSums];
  for (std::uint64_t b = 0; b < exec::grid_blocks(); ++b) {
    add_sums(sums, a.partial + b * exec::block_threads() * 2 * kSums);
  }
  store_sums(a.partial, sums);
  chime_double_fcollect(CHIME_TEAM_WORLD, a.sums, a.partial, 2 * kSums);
  Sum total[kSums];
  for (int pe = 0; pe < a.pes; ++pe) add_sums(total, a.sums + pe * 2 * kSums);
  store_sums(a.partial, total);
}

// The whole grid calls this; `a.energy` and `a.virial` are of this step.
template <int kLanes, class Real>
CHIME_DEVICE void sum_system(const View<Real>& a) {
  Sum sums[kSums];
  sum_my_atoms<kLanes>(a, sums);
  store_sums(a.partial + exec::grid_rank() * 2 * kSums, sums);
  sum_block(a);
  exec::sync_grid();
  if (exec::grid_rank() == 0) gather_sums(a);
}

}  // namespace particles
