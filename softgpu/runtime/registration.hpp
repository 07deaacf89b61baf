// The kernels and variables of the program, by their host names, which clang has written into its
// objects.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace softgpu::runtime {

// The kernel of the host's stub `stub`, in the current context; loads its module there.
// CUDA_ERROR_NOT_FOUND: there is none.
CUresult function_of(const void* stub, CUfunction* function);

// The memory of the variable with the host's shadow `shadow`.
CUresult variable_of(const void* shadow, CUdeviceptr* address, std::size_t* bytes);

}  // namespace softgpu::runtime
