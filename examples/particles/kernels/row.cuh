// The force on one atom from the atoms of its neighbour row: the inner loop of the program.
#pragma once

#include <cmath>

#include "kernels/state.cuh"

namespace particles {

template <class Real>
struct RowSum {
  Real f[3];
  Real energy;  // half of each pair's energy
  Real virial;  // half of each pair's r * f
};

// If the compiler of a CPU back end supports it, the loop is also compiled for AVX-512, and the
// loader chooses (PARTICLES_CLONES comes from CMakeLists.txt): gathers make it twice as fast there.
// AVX2's gathers gain nothing over scalar code.
#ifdef PARTICLES_CLONES
#define PARTICLES_ROW [[gnu::target_clones("avx512f", "default")]] static
#else
#define PARTICLES_ROW CHIME_DEVICE
#endif

// Lists are full: each pair is in both atoms' rows. This is twice the arithmetic of half lists. But
// it needs no write to another atom and so no atomics, the sum has the same order for any number of
// threads, and the loop vectorises. The filling of a row points to an atom beyond the cutoff of
// every atom.
template <int kLanes, bool kForceShift, bool kOutput, class Real>
PARTICLES_ROW RowSum<Real> sum_row(const View<Real>& a, const Real* __restrict__ x,
                                   const Real* __restrict__ y, const Real* __restrict__ z, int i) {
  const std::int32_t* __restrict__ row =
      a.neighbours + static_cast<std::int64_t>(i / kLanes) * kLanes * a.row_capacity + i % kLanes;
  const int length = (a.row_length[i] + kRowUnit - 1) / kRowUnit * kRowUnit;
  const Real xi = x[i], yi = y[i], zi = z[i];
  const Real cutoff2 = a.cutoff2, cutoff = a.cutoff, energy_shift = a.energy_shift,
             force_shift = a.force_shift;
  Real fx = 0, fy = 0, fz = 0, energy = 0, virial = 0;
#pragma omp simd reduction(+ : fx, fy, fz, energy, virial)
  for (int k = 0; k < length; ++k) {
    const int j = row[k * kLanes];
    const Real dx = xi - x[j], dy = yi - y[j], dz = zi - z[j];
    const Real r2 = dx * dx + dy * dy + dz * dz;
    const Real inverse2 = Real(1) / r2;
    const Real inverse6 = inverse2 * inverse2 * inverse2;
    Real force = inverse6 * (Real(48) * inverse6 - Real(24)) * inverse2;  // over r
    Real r = 0;
    if constexpr (kForceShift) {
      r = std::sqrt(r2);
      force -= force_shift / r;
    }
    force = r2 < cutoff2 ? force : Real(0);
    fx += dx * force;
    fy += dy * force;
    fz += dz * force;
    if constexpr (kOutput) {
      Real pair = inverse6 * (Real(4) * inverse6 - Real(4)) + energy_shift;
      if constexpr (kForceShift) pair += (r - cutoff) * force_shift;
      energy += r2 < cutoff2 ? pair : Real(0);
      virial += r2 < cutoff2 ? force * r2 : Real(0);
    }
  }
  return {{fx, fy, fz}, energy / 2, virial / 2};
}

#undef PARTICLES_ROW

}  // namespace particles
