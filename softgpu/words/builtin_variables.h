// threadIdx and the like: LLVM's header has them without their conversions.
#pragma once

#include <__clang_cuda_builtin_vars.h>

#include "vector_types.h"

#define SOFTGPU_CONVERSIONS(VARIABLE)                                         \
  __device__ inline VARIABLE::operator dim3() const { return dim3(x, y, z); } \
  __device__ inline VARIABLE::operator uint3() const { return uint3{x, y, z}; }
SOFTGPU_CONVERSIONS(__cuda_builtin_threadIdx_t)
SOFTGPU_CONVERSIONS(__cuda_builtin_blockIdx_t)
SOFTGPU_CONVERSIONS(__cuda_builtin_blockDim_t)
SOFTGPU_CONVERSIONS(__cuda_builtin_gridDim_t)
#undef SOFTGPU_CONVERSIONS
