// half: 1 sign, 5 exponent and 10 mantissa bits.
#pragma once

#include "small_float_functions.h"

using __half = softgpu::SmallFloat<10, 5>;
using half = __half;

SOFTGPU_CONVERSIONS(half, __half)
__host__ __device__ constexpr unsigned short __half_as_ushort(__half value) { return value.bits; }
__host__ __device__ constexpr __half __ushort_as_half(unsigned short bits) {
  return __half::of_bits(bits);
}
