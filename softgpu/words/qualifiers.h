// CUDA C++'s qualifiers of functions and variables, as clang's attributes. They are empty for a
// host compiler.
#pragma once

#ifdef __CUDA__
#define __CUDACC__ 1
#define __noinline__ __attribute__((noinline))
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ _Pragma("GCC error \"the softgpu has no __managed__ variables\"")
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
#else
#define __host__
#define __device__
#define __global__
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
