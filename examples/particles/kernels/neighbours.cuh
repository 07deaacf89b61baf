// Neighbour rows: for each own atom all others, own or ghost, within reach (cutoff + skin).
#pragma once

#include "kernels/cells.cuh"

namespace particles {

// All atoms sorted by cell: the beginnings of cells, the positions in that order, and the number of
// each atom.
template <class Real>
struct SortedAtoms {
  const std::int32_t* cell_start;
  const std::int32_t* atom;
  Real* x[3];
};

template <int kLanes, class Real>
CHIME_KERNEL void gather_positions(CHIME_GRID_CONSTANT const View<Real> a, int parity,
                                   CHIME_GRID_CONSTANT const SortedAtoms<Real> sorted) {
  for_my_items<kLanes>(a.own + a.ghosts, [&](int k) {
    for (int d = 0; d < 3; ++d) sorted.x[d][k] = a.x[parity][d][sorted.atom[k]];
  });
}

// Calls visit(first, end) for each run of sorted atoms in cells within two cells of atom i's: one
// run for each row of cells, because cells of a row follow each other.
template <class Real, class Visit>
CHIME_DEVICE void for_each_run(const View<Real>& a, const std::int32_t* cell_start, const Real x[3],
                               Visit visit) {
  int from[3], to[3];
  for (int d = 0; d < 3; ++d) {
    const int c = cell_coordinate(a.cells, d, x[d]);
    from[d] = c < 2 ? 0 : c - 2;
    to[d] = c + 2 >= a.cells.n[d] ? a.cells.n[d] - 1 : c + 2;
  }
  for (int cz = from[2]; cz <= to[2]; ++cz) {
    for (int cy = from[1]; cy <= to[1]; ++cy) {
      const int row = a.cells.n[0] * (cy + a.cells.n[1] * cz);
      visit(cell_start[row + from[0]], cell_start[row + to[0] + 1]);
    }
  }
}

// Fills row i; returns its length, which may exceed the capacity: then only the length is right.
template <int kLanes, class Real>
CHIME_DEVICE int fill_row(const View<Real>& a, int parity, const SortedAtoms<Real>& sorted, int i) {
  std::int32_t* row =
      a.neighbours + static_cast<std::int64_t>(i / kLanes) * kLanes * a.row_capacity + i % kLanes;
  const Real x[3] = {a.x[parity][0][i], a.x[parity][1][i], a.x[parity][2][i]};
  const Real reach2 = a.reach2;
  const int last = a.row_capacity - 1;
  int length = 0;
  for_each_run(a, sorted.cell_start, x, [&](int first, int end) {
    for (int k = first; k < end; ++k) {
      const Real dx = x[0] - sorted.x[0][k], dy = x[1] - sorted.x[1][k], dz = x[2] - sorted.x[2][k];
      const int j = sorted.atom[k];
      // Always written and then kept or not: a quarter of the candidates is kept, which no branch
      // could predict.
      row[(length < last ? length : last) * kLanes] = j;
      length += (dx * dx + dy * dy + dz * dz < reach2) & (j != i);
    }
  });
  return length;
}

template <int kLanes, class Real>
CHIME_KERNEL void build_rows(CHIME_GRID_CONSTANT const View<Real> a, int parity,
                             CHIME_GRID_CONSTANT const SortedAtoms<Real> sorted) {
  for_my_items<kLanes>(a.own, [&](int i) {
    const int length = fill_row<kLanes>(a, parity, sorted, i);
    a.row_length[i] = length;
    std::int32_t* row =
        a.neighbours + static_cast<std::int64_t>(i / kLanes) * kLanes * a.row_capacity + i % kLanes;
    for (int k = length; k % kRowUnit != 0 && k < a.row_capacity; ++k)
      row[k * kLanes] = a.capacity;  // nowhere
  });
}

}  // namespace particles
