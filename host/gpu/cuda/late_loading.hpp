// Kernels that a driver would load only at their first launch.
#pragma once

#include <cuda.h>

#include "host/gpu/gpu.hpp"

namespace chime::host::cuda {

// Gpu::load_kernels and Gpu::load_kernels_beside, in the current context.
void load_kernels(const ProgramModule& module);
void load_kernels_beside(CUfunction kernel);

}  // namespace chime::host::cuda
