// CUDA's vector types. Their alignment is documented; the loads and stores of 8 and 16 bytes depend
// on it.
#pragma once

#include "qualifiers.h"

#define SOFTGPU_VECTORS(NAME, T, ALIGN2, ALIGN4)                                            \
  struct NAME##1 {                                                                          \
    T x;                                                                                    \
  };                                                                                        \
  struct __align__(ALIGN2) NAME##2 {                                                        \
    T x, y;                                                                                 \
  };                                                                                        \
  struct NAME##3 {                                                                          \
    T x, y, z;                                                                              \
  };                                                                                        \
  struct __align__(ALIGN4) NAME##4 {                                                        \
    T x, y, z, w;                                                                           \
  };                                                                                        \
  __host__ __device__ constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                 \
  __host__ __device__ constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }         \
  __host__ __device__ constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; } \
  __host__ __device__ constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SOFTGPU_VECTORS(char, signed char, 2, 4)
SOFTGPU_VECTORS(uchar, unsigned char, 2, 4)
SOFTGPU_VECTORS(short, short, 4, 8)
SOFTGPU_VECTORS(ushort, unsigned short, 4, 8)
SOFTGPU_VECTORS(int, int, 8, 16)
SOFTGPU_VECTORS(uint, unsigned, 8, 16)
SOFTGPU_VECTORS(long, long, 16, 16)
SOFTGPU_VECTORS(ulong, unsigned long, 16, 16)
SOFTGPU_VECTORS(longlong, long long, 16, 16)
SOFTGPU_VECTORS(ulonglong, unsigned long long, 16, 16)
SOFTGPU_VECTORS(float, float, 8, 16)
SOFTGPU_VECTORS(double, double, 16, 16)
#undef SOFTGPU_VECTORS

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};
