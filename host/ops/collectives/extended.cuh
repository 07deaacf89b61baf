// x86's long double in integers, for the kernels of GPUs, which have no such type: sums, products
// and comparisons as the processor's, rounded to nearest. A NaN that results is the same one for
// all.
//
// 64 bits of significand, the highest one explicit; then 15 bits of exponent, a sign, and 48 bits
// that mean nothing. Exponent 0 has the weight of exponent 1: zero, and numbers without highest
// bit.
#pragma once

#include <cstdint>

#include "chime/device/exec/exec.cuh"
#include "chime/host_ops.h"

namespace chime::host {

struct alignas(16) Extended {
  static constexpr int kElement = CHIME_ELEMENT_LONG_DOUBLE;
  std::uint64_t significand, sign_and_exponent;
};

namespace extended {

inline constexpr std::uint64_t kHighest = std::uint64_t{1} << 63;
inline constexpr int kExponents = 0x7fff;  // as exponent: infinite, or NaN
inline constexpr int kBias = 16383;

CHIME_DEVICE bool is_negative(Extended x) { return (x.sign_and_exponent >> 15 & 1) != 0; }
CHIME_DEVICE int exponent_of(Extended x) {
  return static_cast<int>(x.sign_and_exponent & kExponents);
}
CHIME_DEVICE Extended make(bool negative, int exponent, std::uint64_t significand) {
  return {significand, static_cast<std::uint64_t>(exponent) | std::uint64_t{negative} << 15};
}
CHIME_DEVICE Extended nan() { return make(true, kExponents, kHighest | kHighest >> 1); }
CHIME_DEVICE Extended infinite(bool negative) { return make(negative, kExponents, kHighest); }

CHIME_DEVICE bool is_zero(Extended x) { return exponent_of(x) == 0 && x.significand == 0; }
CHIME_DEVICE bool is_infinite(Extended x) {
  return exponent_of(x) == kExponents && x.significand == kHighest;
}
// Processors also refuse numbers whose highest bit is missing.
CHIME_DEVICE bool is_nan(Extended x) {
  const bool has_highest = x.significand >= kHighest;
  return exponent_of(x) == kExponents ? x.significand != kHighest
                                      : exponent_of(x) != 0 && !has_highest;
}

// The number high.low x 2^(exponent - kBias - 63), and a sign: `low` is a fraction whose last bit
// also stands for all that follow. exponent >= 1.
struct Unrounded {
  bool negative;
  int exponent;
  std::uint64_t high, low;
};

CHIME_DEVICE int leading_zeros(std::uint64_t bits) {
  int zeros = 0;
  for (int step = 32; step != 0; step /= 2)
    if (bits >> (64 - step) == 0) {
      zeros += step;
      bits <<= step;
    }
  return bits == 0 ? 64 : zeros;
}

// x / 2^by.
CHIME_DEVICE Unrounded shifted_right(Unrounded x, int by) {
  if (by >= 128) return {x.negative, x.exponent, 0, (x.high | x.low) != 0};
  if (by >= 64) {
    x.low = x.high | (x.low != 0);
    x.high = 0;
    by -= 64;
  }
  if (by == 0) return x;
  const bool is_rest = x.low << (64 - by) != 0;
  return {x.negative, x.exponent, x.high >> by, x.low >> by | x.high << (64 - by) | is_rest};
}

// The same number with its highest bit as high as exponents allow.
CHIME_DEVICE Unrounded normalized(Unrounded x) {
  const int zeros = x.high != 0 ? leading_zeros(x.high) : 64 + leading_zeros(x.low);
  int by = zeros < x.exponent ? zeros : x.exponent - 1;
  x.exponent -= by;
  if (by >= 64) {
    x.high = x.low;
    x.low = 0;
    by -= 64;
  }
  if (by == 0) return x;
  return {x.negative, x.exponent, x.high << by | x.low >> (64 - by), x.low << by};
}

// To nearest, and to even where two are as near.
CHIME_DEVICE Extended rounded(Unrounded x) {
  const bool is_up = x.low > kHighest || (x.low == kHighest && (x.high & 1) != 0);
  if (is_up && ++x.high == 0) {
    x.high = kHighest;
    ++x.exponent;
  }
  if (x.exponent >= kExponents) return infinite(x.negative);
  return make(x.negative, x.high >= kHighest ? x.exponent : 0, x.high);
}

CHIME_DEVICE Unrounded unrounded(Extended x) {
  return {is_negative(x), exponent_of(x) == 0 ? 1 : exponent_of(x), x.significand, 0};
}

CHIME_DEVICE bool is_smaller_in_size(const Unrounded& a, const Unrounded& b) {
  return a.exponent != b.exponent ? a.exponent < b.exponent : a.high < b.high;
}

// a + b. REQUIRES: both have the same sign, and `a` is not the smaller one.
CHIME_DEVICE Extended sum_of_sizes(Unrounded a, const Unrounded& b) {
  a.low = b.low;
  a.high += b.high;
  if (a.high >= b.high) return rounded(a);
  a = shifted_right(a, 1);
  a.high |= kHighest;
  ++a.exponent;
  return rounded(a);
}
CHIME_DEVICE Extended difference_of_sizes(Unrounded a, const Unrounded& b) {
  a.low = 0 - b.low;
  a.high -= b.high + (b.low != 0);
  if ((a.high | a.low) == 0) return make(false, 0, 0);
  return rounded(normalized(a));
}

CHIME_DEVICE Extended sum_of_finite(Unrounded a, Unrounded b) {
  if (is_smaller_in_size(a, b)) {
    const Unrounded smaller = a;
    a = b;
    b = smaller;
  }
  b = shifted_right(b, a.exponent - b.exponent);
  return a.negative == b.negative ? sum_of_sizes(a, b) : difference_of_sizes(a, b);
}

CHIME_DEVICE std::uint64_t high_of_product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t kLow = 0xffffffff;
  const std::uint64_t low = (a & kLow) * (b & kLow);
  const std::uint64_t middle = (a >> 32) * (b & kLow) + (low >> 32);
  const std::uint64_t other = (a & kLow) * (b >> 32) + (middle & kLow);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

// a * b. REQUIRES: neither is zero.
CHIME_DEVICE Extended product_of_finite(Unrounded a, Unrounded b) {
  const int a_zeros = leading_zeros(a.high), b_zeros = leading_zeros(b.high);
  a.high <<= a_zeros;
  b.high <<= b_zeros;
  const int exponent = a.exponent - a_zeros + b.exponent - b_zeros - kBias + 1;
  Unrounded product = {a.negative != b.negative, exponent, high_of_product(a.high, b.high),
                       a.high * b.high};
  if (product.high < kHighest) {
    product.high = product.high << 1 | product.low >> 63;
    product.low <<= 1;
    --product.exponent;
  }
  if (product.exponent < 1) {
    product = shifted_right(product, 1 - product.exponent);
    product.exponent = 1;
  }
  return rounded(product);
}

}  // namespace extended

CHIME_DEVICE_OUT_OF_LINE Extended operator+(Extended a, Extended b) {
  using namespace extended;
  if (is_nan(a) || is_nan(b)) return nan();
  if (is_infinite(a)) return is_infinite(b) && is_negative(a) != is_negative(b) ? nan() : a;
  if (is_infinite(b)) return b;
  if (is_zero(a) && is_zero(b)) return make(is_negative(a) && is_negative(b), 0, 0);
  return sum_of_finite(unrounded(a), unrounded(b));
}

CHIME_DEVICE_OUT_OF_LINE Extended operator*(Extended a, Extended b) {
  using namespace extended;
  if (is_nan(a) || is_nan(b)) return nan();
  const bool negative = is_negative(a) != is_negative(b);
  if (is_infinite(a) || is_infinite(b))
    return is_zero(a) || is_zero(b) ? nan() : infinite(negative);
  if (is_zero(a) || is_zero(b)) return make(negative, 0, 0);
  return product_of_finite(unrounded(a), unrounded(b));
}

CHIME_DEVICE_OUT_OF_LINE bool operator<(Extended a, Extended b) {
  using namespace extended;
  if (is_nan(a) || is_nan(b) || (is_zero(a) && is_zero(b))) return false;
  if (is_negative(a) != is_negative(b)) return is_negative(a);
  const Unrounded one = unrounded(a), other = unrounded(b);
  return is_negative(a) ? is_smaller_in_size(other, one) : is_smaller_in_size(one, other);
}
CHIME_DEVICE bool operator>(Extended a, Extended b) { return b < a; }

// NaN differs from all.
CHIME_DEVICE_OUT_OF_LINE bool operator!=(Extended a, Extended b) {
  using namespace extended;
  return is_nan(a) || is_nan(b) || a < b || b < a;
}

}  // namespace chime::host
