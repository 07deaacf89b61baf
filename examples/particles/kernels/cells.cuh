// Sorting atoms into cells: the key of a position, and where each cell begins in the sorted order.
#pragma once

#include "kernels/range.cuh"

namespace particles {

template <class Real>
CHIME_HOST_DEVICE int cell_coordinate(const Cells<Real>& cells, int d, Real x) {
  const int c = static_cast<int>((x - cells.lo[d]) * cells.inverse[d]);
  return c < 0 ? 0 : c >= cells.n[d] ? cells.n[d] - 1 : c;
}

// Cells of one row in x have consecutive keys.
template <class Real>
CHIME_HOST_DEVICE int cell_of(const Cells<Real>& cells, Real x, Real y, Real z) {
  const int cx = cell_coordinate(cells, 0, x), cy = cell_coordinate(cells, 1, y),
            cz = cell_coordinate(cells, 2, z);
  return cx + cells.n[0] * (cy + cells.n[1] * cz);
}

template <int kLanes, class Real>
CHIME_KERNEL void find_cells(CHIME_GRID_CONSTANT const Cells<Real> cells, const Real* x,
                             const Real* y, const Real* z, int count, std::int32_t* key) {
  for_my_items<kLanes>(count, [&](int i) { key[i] = cell_of(cells, x[i], y[i], z[i]); });
}

}  // namespace particles
