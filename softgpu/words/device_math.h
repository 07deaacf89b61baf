// The standard library's functions of numbers, for kernels. Those that GPUs have instructions for
// are LLVM's built-ins.
#pragma once

#define SOFTGPU_OF_BOTH_1(NAME)                                                        \
  __device__ __forceinline__ float NAME##f(float x) { return __builtin_##NAME##f(x); } \
  __device__ __forceinline__ float NAME(float x) { return __builtin_##NAME##f(x); }    \
  __device__ __forceinline__ double NAME(double x) { return __builtin_##NAME(x); }
SOFTGPU_OF_BOTH_1(fabs)
SOFTGPU_OF_BOTH_1(floor)
SOFTGPU_OF_BOTH_1(ceil)
SOFTGPU_OF_BOTH_1(trunc)
SOFTGPU_OF_BOTH_1(rint)
SOFTGPU_OF_BOTH_1(nearbyint)
SOFTGPU_OF_BOTH_1(round)
#undef SOFTGPU_OF_BOTH_1
