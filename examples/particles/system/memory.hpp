// All memory of one PE's part of the system, and the view of it that kernels get.
#pragma once

#include <array>

#include "kernels/migrate.cuh"
#include "system/arrays.hpp"
#include "system/options.hpp"

namespace particles {

// Room for the atoms that a PE may own and see: those of the fullest PE at the start, and a half
// more for movement.
struct Capacity {
  int own;
  int all;
};
Capacity capacity_for(const Crowd& crowd);

template <class Real>
class Memory {
 public:
  Memory(const Options& options, const Domain& domain, const Capacity& capacity, const Shape& shape,
         int pes);

  View<Real> view;  // kept current: kernels get a copy
  Scratch<Real> scratch;

  // Makes rows `row_capacity` long.
  void set_row_capacity(int row_capacity);

  DeviceArray<std::int32_t> key, order, route, chosen, number, entry, start, cell_start;
  DeviceArray<Real> sorted[3];

 private:
  void allocate_symmetric(int pes);
  void allocate_private(const Shape& shape);
  void place_nowhere();

  const Shape shape_;
  SymmetricArray<Real> x_[2][3], v_[3], f_[3], send_, landing_;
  SymmetricArray<std::int64_t> id_;
  SymmetricArray<std::int32_t> image_[3];
  SymmetricArray<Board> board_;
  SymmetricArray<Traveller<Real>> departures_, arrivals_;
  SymmetricArray<double> sums_;
  DeviceArray<Real> x_built_[3], energy_, virial_, scratch_x_[3], scratch_v_[3];
  DeviceArray<std::int64_t> moved_, scratch_id_;
  DeviceArray<std::int32_t> neighbours_, row_length_, send_list_, decision_, scratch_image_[3];
  DeviceArray<double> partial_;
};

// Takes this PE's atoms out of the whole sample, as of step 0.
template <class Real>
void load_atoms(Memory<Real>& memory, const Sample& sample, const Domain& domain);

}  // namespace particles
