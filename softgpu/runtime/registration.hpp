// The kernels and variables of the program, by the host's names for them: what clang has written
// into its objects.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace softgpu::runtime {

// The kernel whose stub on the host is `stub`, in the current context; loads its module there.
// CUDA_ERROR_NOT_FOUND: there is none.
CUresult function_of(const void* stub, CUfunction* function);

// The memory of the variable whose shadow on the host is `shadow`.
CUresult variable_of(const void* shadow, CUdeviceptr* address, std::size_t* bytes);

}  // namespace softgpu::runtime
