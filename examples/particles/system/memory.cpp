#include "system/memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "files/progress.hpp"

namespace particles {
namespace {

constexpr int kFirstRowCapacity = 128;  // a Lennard-Jones liquid has about 78 within 2.8

int with_margin(std::size_t count) { return static_cast<int>(count + count / 2 + 256); }

// Cells and the bounds between them are counted by int.
void require_numbered_cells(const Box& mine, double reach) {
  double cells = 1;
  for (int d = 0; d < 3; ++d)
    cells *= std::max(1.0, std::floor((mine.length(d) + 2 * reach) / (reach / 2)));
  if (cells < std::numeric_limits<int>::max()) return;
  throw InputError(fmt::format(
      "a subdomain of {:.6g} x {:.6g} x {:.6g} needs {:.3g} cells of half the cutoff + "
      "skin, but at most {} are possible: use more PEs, a smaller box, or a larger "
      "--cutoff or --skin",
      mine.length(0), mine.length(1), mine.length(2), cells, std::numeric_limits<int>::max() - 1));
}

template <class Real>
Cells<Real> make_cells(const Box& mine, double reach) {
  Cells<Real> cells{};
  require_numbered_cells(mine, reach);
  for (int d = 0; d < 3; ++d) {
    const double length = mine.length(d) + 2 * reach;
    cells.n[d] = std::max(1, static_cast<int>(std::floor(length / (reach / 2))));
    cells.lo[d] = static_cast<Real>(mine.lo[d] - reach);
    cells.inverse[d] = static_cast<Real>(cells.n[d] / length);
  }
  return cells;
}

template <class Real>
void describe_domain(View<Real>& view, const Domain& domain, double reach) {
  for (int d = 0; d < 3; ++d) {
    view.box_lo[d] = static_cast<Real>(domain.box.lo[d]);
    view.box_length[d] = static_cast<Real>(domain.box.length(d));
    view.mine_lo[d] = static_cast<Real>(domain.mine.lo[d]);
    view.mine_hi[d] = static_cast<Real>(domain.mine.hi[d]);
    view.grid[d] = domain.grid[d];
    view.coordinate[d] = domain.coordinate[d];
  }
  for (int d = 0; d < kDirections; ++d) {
    view.neighbour[d] = domain.neighbour[d];
    for (int k = 0; k < 3; ++k) view.shift[d][k] = static_cast<Real>(domain.shift[d][k]);
  }
  view.cells = make_cells<Real>(domain.mine, reach);
}

// u(r) = 4 (r^-12 - r^-6) + energy_shift + (r - cutoff) force_shift; the force follows.
template <class Real>
void describe_physics(View<Real>& view, const Options& options) {
  const double rc = options.cutoff;
  const double energy = 4 * (std::pow(rc, -12) - std::pow(rc, -6));
  const double force = 48 * std::pow(rc, -13) - 24 * std::pow(rc, -7);
  view.dt = static_cast<Real>(options.dt);
  view.half_dt = static_cast<Real>(options.dt / 2);
  view.cutoff = static_cast<Real>(rc);
  view.cutoff2 = static_cast<Real>(rc * rc);
  view.reach = static_cast<Real>(options.reach());
  view.reach2 = static_cast<Real>(options.reach() * options.reach());
  view.limit2 = static_cast<Real>(options.skin * options.skin / 4);
  view.energy_shift = static_cast<Real>(options.potential == Potential::kLj ? 0 : -energy);
  view.force_shift = static_cast<Real>(options.potential == Potential::kLjForceShift ? force : 0);
}

}  // namespace

Capacity capacity_for(const Crowd& crowd) {
  const int own = with_margin(crowd.own);
  return {own, own + with_margin(crowd.seen)};
}

template <class Real>
Memory<Real>::Memory(const Options& options, const Domain& domain, const Capacity& capacity,
                     const Shape& shape, int pes)
    : view{}, scratch{}, shape_(shape) {
  view.pe = domain.coordinate[0] +
            domain.grid[0] * (domain.coordinate[1] + domain.grid[1] * domain.coordinate[2]);
  view.pes = pes;
  view.capacity = capacity.all;
  view.own_capacity = capacity.own;
  describe_domain(view, domain, options.reach());
  describe_physics(view, options);
  allocate_symmetric(pes);
  allocate_private(shape);
  set_row_capacity(kFirstRowCapacity);
  place_nowhere();
}

template <class Real>
void Memory<Real>::allocate_symmetric(int pes) {
  const std::size_t all = view.capacity, own = view.own_capacity;
  const auto make = [](auto& array, auto*& pointer, std::size_t count) {
    array = std::remove_reference_t<decltype(array)>(count);
    pointer = array.data();
  };
  for (int d = 0; d < 3; ++d) {
    make(x_[0][d], view.x[0][d], all + 1);
    make(x_[1][d], view.x[1][d], all + 1);
    make(v_[d], view.v[d], own);
    make(f_[d], view.f[d], own);
    make(image_[d], view.image[d], own);
  }
  make(id_, view.id, own);
  make(board_, view.board, 1);
  make(send_, view.send, 3 * all);
  make(landing_, view.landing, 3 * all);
  make(departures_, view.departures, own);
  make(arrivals_, view.arrivals, own);
  make(sums_, view.sums, static_cast<std::size_t>(pes) * 2 * kSums);
}

template <class Real>
void Memory<Real>::allocate_private(const Shape& shape) {
  const std::size_t all = view.capacity, own = view.own_capacity;
  const auto make = [](auto& array, auto*& pointer, std::size_t count) {
    array.reserve(count);
    pointer = array.data();
  };
  for (int d = 0; d < 3; ++d) {
    make(x_built_[d], view.x_built[d], own);
    make(scratch_x_[d], scratch.x[d], own);
    make(scratch_v_[d], scratch.v[d], own);
    make(scratch_image_[d], scratch.image[d], own);
    sorted[d].reserve(all);
  }
  make(scratch_id_, scratch.id, own);
  make(energy_, view.energy, own);
  make(virial_, view.virial, own);
  make(row_length_, view.row_length, own);
  make(send_list_, view.send_list, all);
  make(partial_, view.partial, static_cast<std::size_t>(shape.blocks) * shape.threads * 2 * kSums);
  make(moved_, view.moved, 2);
  make(decision_, view.decision, 1);
  for (auto* array : {&key, &order, &chosen, &number, &entry, &route}) array->reserve(all);
  start.reserve(kDirections + 1);
  cell_start.reserve(
      static_cast<std::size_t>(view.cells.n[0]) * view.cells.n[1] * view.cells.n[2] + 1, "cells");
}

template <class Real>
void Memory<Real>::set_row_capacity(int row_capacity) {
  view.row_capacity = row_capacity;
  const std::size_t rows = (view.own_capacity + shape_.lanes - 1) / shape_.lanes * shape_.lanes;
  neighbours_.reserve(rows * row_capacity);
  view.neighbours = neighbours_.data();
}

// The atom that fills up rows: further away than any cutoff, near enough that its square is a
// finite float.
template <class Real>
void Memory<Real>::place_nowhere() {
  const Real far = Real(1e9);
  const std::int64_t never[2] = {-1, -1};
  for (int parity = 0; parity < 2; ++parity) {
    for (int d = 0; d < 3; ++d) upload(view.x[parity][d] + view.capacity, &far, 1);
  }
  upload(view.moved, never, 2);
}

template <class Real>
void load_atoms(Memory<Real>& memory, const Sample& sample, const Domain& domain) {
  View<Real>& view = memory.view;
  std::vector<Real> x[3], v[3];
  std::vector<std::int32_t> image[3];
  std::vector<std::int64_t> id;
  Phase phase("handing out the atoms", static_cast<std::int64_t>(sample.atoms.size()), "atoms");
  for (const Atom& atom : sample.atoms) {
    phase.at(&atom - sample.atoms.data());
    if (domain.owner_of(atom.x) != view.pe) continue;
    id.push_back(atom.id);
    for (int d = 0; d < 3; ++d) {
      x[d].push_back(static_cast<Real>(atom.x[d]));
      v[d].push_back(static_cast<Real>(atom.v[d]));
      image[d].push_back(atom.image[d]);
    }
  }
  view.own = static_cast<int>(id.size());
  upload(view.id, id.data(), id.size());
  for (int d = 0; d < 3; ++d) {
    upload(view.x[0][d], x[d].data(), id.size());
    upload(view.v[d], v[d].data(), id.size());
    upload(view.image[d], image[d].data(), id.size());
  }
}

template class Memory<double>;
template class Memory<float>;
template void load_atoms(Memory<double>&, const Sample&, const Domain&);
template void load_atoms(Memory<float>&, const Sample&, const Domain&);

}  // namespace particles
