// bfloat16: the first half of a float, 1 sign, 8 exponent and 7 mantissa bits.
#pragma once

#include "small_float_functions.h"

using __nv_bfloat16 = softgpu::SmallFloat<7, 8>;
using nv_bfloat16 = __nv_bfloat16;

SOFTGPU_CONVERSIONS(bfloat16, __nv_bfloat16)
__host__ __device__ constexpr unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) {
  return value.bits;
}
__host__ __device__ constexpr __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __nv_bfloat16::of_bits(bits);
}
