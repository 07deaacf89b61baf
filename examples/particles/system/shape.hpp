// How many blocks and threads a PE's kernels get.
#pragma once

#include "kernels/state.cuh"
#include "system/options.hpp"

namespace particles {

// From --blocks and --threads, else from the device and the number of this PE's atoms.
Shape choose_shape(const Options& options, std::size_t atoms);

}  // namespace particles
