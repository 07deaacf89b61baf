// How many blocks and threads a PE's kernels get.
#pragma once

#include "options.hpp"
#include "state.cuh"

namespace particles {

// From --blocks and --threads, else from the device and the number of this PE's atoms.
Shape choose_shape(const Options& options, std::size_t atoms);

}  // namespace particles
