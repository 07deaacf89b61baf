// Floating-point numbers of 16 bits: an exponent of kExponent bits, kMantissa bits after the point.
// Stored as bits, computed in wider types. Float has more than twice the bits plus two, so one
// operation in float, rounded again, equals the operation rounded once. Rounds to nearest, ties to
// even; NaN becomes 0x7fff.
#pragma once

#include <type_traits>

#include "qualifiers.h"

namespace softgpu {

template <int kMantissa, int kExponent>
struct SmallFloat {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr unsigned kInfinity = ((1u << kExponent) - 1) << kMantissa;
  static constexpr unsigned short kNan = 0x7fff;

  unsigned short bits;

  SmallFloat() = default;
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  __host__ __device__ constexpr SmallFloat(T value) : bits(narrow(exact(value))) {}
  __host__ __device__ static constexpr SmallFloat of_bits(unsigned short bits) {
    SmallFloat value = 0.0;
    value.bits = bits;
    return value;
  }

  __host__ __device__ constexpr operator float() const { return static_cast<float>(wide()); }
  __host__ __device__ constexpr bool is_nan() const { return (bits & 0x7fffu) > kInfinity; }

#define SOFTGPU_SMALL(OP)                                                                   \
  __host__ __device__ friend constexpr SmallFloat operator OP(SmallFloat a, SmallFloat b) { \
    return static_cast<float>(a) OP static_cast<float>(b);                                  \
  }                                                                                         \
  __host__ __device__ constexpr SmallFloat& operator OP##=(SmallFloat b) {                  \
    return *this = *this OP b;                                                              \
  }
  SOFTGPU_SMALL(+)
  SOFTGPU_SMALL(-)
  SOFTGPU_SMALL(*)
  SOFTGPU_SMALL(/)
#undef SOFTGPU_SMALL
#define SOFTGPU_SMALL(OP)                                                             \
  __host__ __device__ friend constexpr bool operator OP(SmallFloat a, SmallFloat b) { \
    return static_cast<float>(a) OP static_cast<float>(b);                            \
  }
  SOFTGPU_SMALL(==)
  SOFTGPU_SMALL(!=)
  SOFTGPU_SMALL(<)
  SOFTGPU_SMALL(<=)
  SOFTGPU_SMALL(>)
  SOFTGPU_SMALL(>=)
#undef SOFTGPU_SMALL
  __host__ __device__ friend constexpr SmallFloat operator+(SmallFloat a) { return a; }
  __host__ __device__ friend constexpr SmallFloat operator-(SmallFloat a) {
    return of_bits(a.bits ^ 0x8000u);
  }
  __host__ __device__ constexpr SmallFloat& operator++() { return *this += SmallFloat(1); }
  __host__ __device__ constexpr SmallFloat& operator--() { return *this -= SmallFloat(1); }

  // a * b is exact in double. The sum is rounded to odd there; after that a second rounding equals
  // a single one.
  __host__ __device__ static constexpr SmallFloat fma(SmallFloat a, SmallFloat b, SmallFloat c) {
    const double product = a.wide() * b.wide(), addend = c.wide(), sum = product + addend;
    const double part = sum - product, lost = (product - (sum - part)) + (addend - part);
    const auto bits = __builtin_bit_cast(unsigned long long, sum);
    if (!(lost < 0 || lost > 0) || (bits & 1) != 0) return sum;
    const bool away_from_zero = (lost > 0) == (sum > 0);
    return __builtin_bit_cast(double, away_from_zero ? bits + 1 : bits - 1);
  }

 private:
  static constexpr int kDoubleMantissa = 52, kDoubleBias = 1023;
  static constexpr unsigned long long kDoubleOne = 1ull << kDoubleMantissa;

  __host__ __device__ constexpr double wide() const {
    const unsigned long long sign = bits >> 15, mantissa = bits & ((1u << kMantissa) - 1);
    const int exponent = (bits & kInfinity) >> kMantissa;
    if (exponent == 0) {
      const double smallest = power_of_2(1 - kBias - kMantissa), value = mantissa * smallest;
      return sign != 0 ? -value : value;
    }
    const bool finite = (bits & kInfinity) != kInfinity;
    const unsigned long long wide_exponent = finite ? exponent - kBias + kDoubleBias : 0x7ff;
    return __builtin_bit_cast(double, sign << 63 | wide_exponent << kDoubleMantissa |
                                          mantissa << (kDoubleMantissa - kMantissa));
  }
  __host__ __device__ static constexpr double power_of_2(int n) {
    return __builtin_bit_cast(double, static_cast<unsigned long long>(n + kDoubleBias)
                                          << kDoubleMantissa);
  }

  // The value as a double. An integer of more than 53 bits is rounded to odd; after that a second
  // rounding equals a single one.
  template <class T>
  __host__ __device__ static constexpr double exact(T value) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
      constexpr T kLimit = T{1} << 53, kOdd = T{1} << 11;
      const bool fits = value < kLimit && (std::is_unsigned_v<T> || value > -kLimit);
      const bool has_rest = (value & (kOdd - 1)) != 0;
      return static_cast<double>(fits || !has_rest ? value : (value & ~(kOdd - 1)) | kOdd);
    } else {
      return static_cast<double>(value);
    }
  }

  __host__ __device__ static constexpr unsigned short narrow(double value) {
    const auto wide = __builtin_bit_cast(unsigned long long, value);
    const unsigned sign = static_cast<unsigned>(wide >> 63) << 15;
    const int wide_exponent = static_cast<int>(wide >> kDoubleMantissa) & 0x7ff;
    const unsigned long long mantissa = wide & (kDoubleOne - 1);
    if (wide_exponent == 0x7ff)
      return mantissa != 0 ? kNan : static_cast<unsigned short>(sign | kInfinity);

    const int exponent = wide_exponent - kDoubleBias + kBias;
    const int dropped = kDoubleMantissa - kMantissa + (exponent > 0 ? 0 : 1 - exponent);
    if (wide_exponent == 0 || dropped > kDoubleMantissa + 1)
      return static_cast<unsigned short>(sign);
    const unsigned long long significand = mantissa | kDoubleOne, tie = 1ull << (dropped - 1);
    const unsigned long long rest = significand & ((1ull << dropped) - 1);
    unsigned kept = static_cast<unsigned>(significand >> dropped);
    if (rest > tie || (rest == tie && (kept & 1) != 0)) ++kept;
    // The part before the point adds 1 to the exponent, and so does rounding up to the next power
    // of 2.
    const unsigned long long magnitude =
        exponent > 0 ? (static_cast<unsigned long long>(exponent - 1) << kMantissa) + kept : kept;
    return static_cast<unsigned short>(
        sign | static_cast<unsigned>(magnitude > kInfinity ? kInfinity : magnitude));
  }
};

}  // namespace softgpu
