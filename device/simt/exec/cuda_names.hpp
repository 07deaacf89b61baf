// The types of CUDA's headers that Chime's sources use: dim3, uint3, half, bfloat16. With them the
// CPU device needs no CUDA toolkit.
#pragma once

#include <bit>
#include <cstdint>

namespace chime::exec {

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace detail {

// IEEE binary16 of `value`, rounded to nearest even.
constexpr std::uint16_t half_bits(float value) {
  const std::uint32_t f = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (f >> 16) & 0x8000u;
  const std::uint32_t magnitude = f & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 65536, inf
  if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);             // < 2^-25
  const int exponent = static_cast<int>(magnitude >> 23) - 112;
  std::uint32_t mantissa = magnitude & 0x7fffffu;
  int drop = 13;
  std::uint32_t result = static_cast<std::uint32_t>(exponent) << 10;
  if (exponent <= 0) {  // subnormal: the implicit bit becomes explicit
    mantissa |= 0x800000u;
    drop += 1 - exponent;
    result = 0;
  }
  result += mantissa >> drop;
  const std::uint32_t rest = mantissa & ((1u << drop) - 1), tie = 1u << (drop - 1);
  if (rest > tie || (rest == tie && (result & 1)))
    ++result;  // may carry into the exponent, up to inf
  return static_cast<std::uint16_t>(sign | result);
}

constexpr float half_value(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

constexpr std::uint16_t bfloat16_bits(float value) {
  const std::uint32_t f = std::bit_cast<std::uint32_t>(value);
  if ((f & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(f >> 16 | 0x40u);  // NaN
  return static_cast<std::uint16_t>((f + 0x7fffu + ((f >> 16) & 1)) >> 16);
}

constexpr float bfloat16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace detail

// 16-bit floating types: stored in 16 bits, computed in float, rounded to nearest even.
struct half {
  std::uint16_t bits;
  half() = default;
  constexpr half(float value) : bits(detail::half_bits(value)) {}
  constexpr operator float() const { return detail::half_value(bits); }
};

constexpr half sum_of(half a, half b) { return float{a} + float{b}; }

// As C computes it.
template <class Real>
constexpr Real rounded_product(Real a, Real b) {
  return a * b;
}

struct bfloat16 {
  std::uint16_t bits;
  bfloat16() = default;
  constexpr bfloat16(float value) : bits(detail::bfloat16_bits(value)) {}
  constexpr operator float() const { return detail::bfloat16_value(bits); }
};

// Whether kernels compute with long double as host code does.
inline constexpr bool kHasLongDouble = true;

}  // namespace chime::exec

using chime_half_t = chime::exec::half;
using chime_bfloat16_t = chime::exec::bfloat16;
