// The functions that CUDA has for both of its small types, by their documented names. Included by
// cuda_fp16.h and cuda_bf16.h.
#pragma once

#include "small_float.h"

#define SOFTGPU_SMALL(RESULT, NAME, PARAMETERS, ...)     \
  template <int kM, int kE>                              \
  __host__ __device__ constexpr RESULT NAME PARAMETERS { \
    return __VA_ARGS__;                                  \
  }
#define SOFTGPU_T softgpu::SmallFloat<kM, kE>
SOFTGPU_SMALL(SOFTGPU_T, __hadd, (SOFTGPU_T a, SOFTGPU_T b), a + b)
SOFTGPU_SMALL(SOFTGPU_T, __hsub, (SOFTGPU_T a, SOFTGPU_T b), a - b)
SOFTGPU_SMALL(SOFTGPU_T, __hmul, (SOFTGPU_T a, SOFTGPU_T b), a* b)
SOFTGPU_SMALL(SOFTGPU_T, __hdiv, (SOFTGPU_T a, SOFTGPU_T b), a / b)
SOFTGPU_SMALL(SOFTGPU_T, __hfma, (SOFTGPU_T a, SOFTGPU_T b, SOFTGPU_T c), SOFTGPU_T::fma(a, b, c))
SOFTGPU_SMALL(SOFTGPU_T, __hneg, (SOFTGPU_T a), -a)
SOFTGPU_SMALL(SOFTGPU_T, __habs, (SOFTGPU_T a), SOFTGPU_T::of_bits(a.bits & 0x7fffu))
SOFTGPU_SMALL(bool, __heq, (SOFTGPU_T a, SOFTGPU_T b), a == b)
SOFTGPU_SMALL(bool, __hne, (SOFTGPU_T a, SOFTGPU_T b), a<b || a> b)  // false if one is NaN
SOFTGPU_SMALL(bool, __hlt, (SOFTGPU_T a, SOFTGPU_T b), a < b)
SOFTGPU_SMALL(bool, __hle, (SOFTGPU_T a, SOFTGPU_T b), a <= b)
SOFTGPU_SMALL(bool, __hgt, (SOFTGPU_T a, SOFTGPU_T b), a > b)
SOFTGPU_SMALL(bool, __hge, (SOFTGPU_T a, SOFTGPU_T b), a >= b)
SOFTGPU_SMALL(bool, __hequ, (SOFTGPU_T a, SOFTGPU_T b), !(a < b || a > b))
SOFTGPU_SMALL(bool, __hneu, (SOFTGPU_T a, SOFTGPU_T b), !(a == b))
SOFTGPU_SMALL(bool, __hisnan, (SOFTGPU_T a), a.is_nan())
SOFTGPU_SMALL(int, __hisinf, (SOFTGPU_T a),
              (a.bits & 0x7fffu) != SOFTGPU_T::kInfinity ? 0
              : (a.bits & 0x8000u) != 0                  ? -1
                                                         : 1)
// With NaN and a number it gives the number; with two zeros the one with the fitting sign.
SOFTGPU_SMALL(SOFTGPU_T, __hmax, (SOFTGPU_T a, SOFTGPU_T b),
              a.is_nan()   ? (b.is_nan() ? SOFTGPU_T::of_bits(SOFTGPU_T::kNan) : b)
              : b.is_nan() ? a
              : a == b     ? SOFTGPU_T::of_bits(a.bits & b.bits)
              : a > b      ? a
                           : b)
SOFTGPU_SMALL(SOFTGPU_T, __hmin, (SOFTGPU_T a, SOFTGPU_T b),
              a.is_nan()   ? (b.is_nan() ? SOFTGPU_T::of_bits(SOFTGPU_T::kNan) : b)
              : b.is_nan() ? a
              : a == b     ? SOFTGPU_T::of_bits(a.bits | b.bits)
              : a < b      ? a
                           : b)
#undef SOFTGPU_T
#undef SOFTGPU_SMALL

// Conversions between TYPE and the others: __float2NAME, __NAME2float, and so on. To an integer
// they use the rounding in the name. A value beyond its range becomes the nearest in it, and NaN
// becomes 0.
#define SOFTGPU_CONVERSION_FROM(NAME, TYPE, WORD, T)                              \
  __host__ __device__ constexpr TYPE __##WORD##2##NAME(T value) { return value; } \
  __host__ __device__ constexpr TYPE __##WORD##2##NAME##_rn(T value) { return value; }
#define SOFTGPU_CONVERSION_TO(NAME, TYPE, WORD, T)                                 \
  __host__ __device__ constexpr T __##NAME##2##WORD##_rz(TYPE value) {             \
    return softgpu::to_integer<T>(static_cast<double>(static_cast<float>(value))); \
  }                                                                                \
  __host__ __device__ constexpr T __##NAME##2##WORD##_rn(TYPE value) {             \
    return softgpu::to_integer<T>(softgpu::to_even(static_cast<float>(value)));    \
  }
#define SOFTGPU_CONVERSIONS(NAME, TYPE)                                              \
  __host__ __device__ constexpr float __##NAME##2float(TYPE value) { return value; } \
  SOFTGPU_CONVERSION_FROM(NAME, TYPE, float, float)                                  \
  SOFTGPU_CONVERSION_FROM(NAME, TYPE, double, double)                                \
  SOFTGPU_CONVERSION_FROM(NAME, TYPE, short, short)                                  \
  SOFTGPU_CONVERSION_FROM(NAME, TYPE, ushort, unsigned short)                        \
  SOFTGPU_CONVERSION_FROM(NAME, TYPE, int, int)                                      \
  SOFTGPU_CONVERSION_FROM(NAME, TYPE, uint, unsigned)                                \
  SOFTGPU_CONVERSION_FROM(NAME, TYPE, ll, long long)                                 \
  SOFTGPU_CONVERSION_FROM(NAME, TYPE, ull, unsigned long long)                       \
  SOFTGPU_CONVERSION_TO(NAME, TYPE, short, short)                                    \
  SOFTGPU_CONVERSION_TO(NAME, TYPE, ushort, unsigned short)                          \
  SOFTGPU_CONVERSION_TO(NAME, TYPE, int, int)                                        \
  SOFTGPU_CONVERSION_TO(NAME, TYPE, uint, unsigned)                                  \
  SOFTGPU_CONVERSION_TO(NAME, TYPE, ll, long long)                                   \
  SOFTGPU_CONVERSION_TO(NAME, TYPE, ull, unsigned long long)

namespace softgpu {

template <class T>
__host__ __device__ constexpr T to_integer(double value) {
  constexpr T kLargest = std::is_signed_v<T> ? static_cast<T>((1ull << (sizeof(T) * 8 - 1)) - 1)
                                             : static_cast<T>(~0ull);
  constexpr T kSmallest = std::is_signed_v<T> ? static_cast<T>(-kLargest - 1) : T{0};
  constexpr double kBeyond = static_cast<double>(kLargest / 2 + 1) * 2;
  if (value != value) return 0;
  if (value >= kBeyond) return kLargest;
  if (value <= static_cast<double>(kSmallest)) return kSmallest;
  return static_cast<T>(value);
}

// To the nearest integer, ties to even: adding 2^52 to a double rounds so.
__host__ __device__ constexpr double to_even(double value) {
  constexpr double kPush = 4503599627370496.0;
  if (value != value || value >= kPush || value <= -kPush) return value;
  return value < 0 ? value - kPush + kPush : value + kPush - kPush;
}

}  // namespace softgpu
