// The C library's functions of numbers, for f32 and f64 by one name each.
//
// <cmath> has them, too, but is 0.6 MB of text, and g++ reads all of the precompiled vocabulary for
// each function that it compiles.
#pragma once

#include "softgpu/vocabulary/values.hpp"

namespace softgpu::libm {

#define SOFTGPU_OF_ONE(NAME)                                     \
  SOFTGPU_INLINE f64 NAME(f64 v) { return __builtin_##NAME(v); } \
  SOFTGPU_INLINE f32 NAME(f32 v) { return __builtin_##NAME##f(v); }
SOFTGPU_OF_ONE(fabs)
SOFTGPU_OF_ONE(sqrt)
SOFTGPU_OF_ONE(sin)
SOFTGPU_OF_ONE(cos)
SOFTGPU_OF_ONE(exp2)
SOFTGPU_OF_ONE(log2)
SOFTGPU_OF_ONE(tanh)
SOFTGPU_OF_ONE(trunc)
SOFTGPU_OF_ONE(floor)
SOFTGPU_OF_ONE(ceil)
SOFTGPU_OF_ONE(nearbyint)
#undef SOFTGPU_OF_ONE

SOFTGPU_INLINE f64 copysign(f64 v, f64 sign) { return __builtin_copysign(v, sign); }
SOFTGPU_INLINE f32 copysign(f32 v, f32 sign) { return __builtin_copysignf(v, sign); }
SOFTGPU_INLINE f64 fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
SOFTGPU_INLINE f32 fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }

template <class T>
SOFTGPU_INLINE bool is_negative(T v) {  // by its sign bit, also of zero and NaN
  return __builtin_signbit(v) != 0;
}
template <class T>
SOFTGPU_INLINE bool is_finite(T v) {
  return __builtin_isfinite(v);
}
template <class T>
SOFTGPU_INLINE bool is_infinite(T v) {
  return __builtin_isinf(v) != 0;
}
template <class T>
SOFTGPU_INLINE bool is_nan(T v) {
  return __builtin_isnan(v);
}
template <class T>
SOFTGPU_INLINE bool is_normal(T v) {
  return __builtin_isnormal(v);
}
template <class T>
SOFTGPU_INLINE bool is_subnormal(T v) {
  return __builtin_fpclassify(0, 0, 0, 1, 0, v) == 1;
}

}  // namespace softgpu::libm
