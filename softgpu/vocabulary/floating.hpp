// Floating point arithmetic and conversions as PTX has them. .approx forms are computed as well as
// libm does, which is within what PTX allows them. What NaN a result of f32 is PTX leaves open.
#pragma once

#include <cfenv>
#include <cmath>

#include "softgpu/vocabulary/values.hpp"

namespace softgpu {

enum class Round { kNearest, kZero, kDown, kUp };

template <class T>
SOFTGPU_INLINE T flushed(T v) {  // .ftz
  return std::fabs(v) < std::numeric_limits<T>::min() ? std::copysign(T{0}, v) : v;
}
// .sat: into [0, 1]; NaN is 0.
template <class T>
SOFTGPU_INLINE T unit_range(T v) {
  return v > T{0} ? (v > T{1} ? T{1} : v) : T{0};
}

// `operation` with another rounding than to nearest. Nothing gives way in it, so that the executor
// does not see the processor's mode changed.
template <Round kRound, class T, class Operation>
[[gnu::noinline]] T rounded(Operation operation) {
  if constexpr (kRound == Round::kNearest) return operation();
  const int mode = std::fegetround();
  std::fesetround(kRound == Round::kZero   ? FE_TOWARDZERO
                  : kRound == Round::kDown ? FE_DOWNWARD
                                           : FE_UPWARD);
  T result = operation();
  __asm__ volatile("" : "+m"(result));
  std::fesetround(mode);
  return result;
}
// A value that the compiler knows nothing of: arithmetic with it stays where it is.
template <class T>
SOFTGPU_INLINE T opaque(T v) {
  __asm__ volatile("" : "+m"(v));
  return v;
}

// div.approx: a * (1/b), whose reciprocal is nothing where b is beyond 2^126.
SOFTGPU_INLINE f32 approximate_quotient(f32 a, f32 b) {
  const bool has_reciprocal = !(std::fabs(b) > 0x1p126f) || std::isinf(b);
  return has_reciprocal ? a / b : a * std::copysign(0.0f, b);
}

// The number of two where one is none; -0 is less than +0.
template <class T>
SOFTGPU_INLINE T min(T a, T b) {
  if (a != a) return b != b ? canonical_nan<T>() : b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
SOFTGPU_INLINE T max(T a, T b) {
  if (a != a) return b != b ? canonical_nan<T>() : b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
// .NaN: none where one is none.
template <class T>
SOFTGPU_INLINE T min_nan(T a, T b) {
  return a != a || b != b ? canonical_nan<T>() : min(a, b);
}
template <class T>
SOFTGPU_INLINE T max_nan(T a, T b) {
  return a != a || b != b ? canonical_nan<T>() : max(a, b);
}

template <Round kRound, class T>
SOFTGPU_INLINE T to_integral(T v) {
  if constexpr (kRound == Round::kZero) return std::trunc(v);
  if constexpr (kRound == Round::kDown) return std::floor(v);
  if constexpr (kRound == Round::kUp) return std::ceil(v);
  return std::nearbyint(v);
}

// What NaN is as an integer: 0, but the highest bit alone where either side has 64 bits.
template <class I, class F>
SOFTGPU_INLINE I integer_of_nan() {
  constexpr bool kIsWide = sizeof(F) == 8 || sizeof(I) == 8;
  return kIsWide ? static_cast<I>(u64{1} << (sizeof(I) * 8 - 1)) : I{0};
}
// Out of range: the nearest that I has.
template <class I, Round kRound, class F>
SOFTGPU_INLINE I to_integer(F v) {
  if (v != v) return integer_of_nan<I, F>();
  const F whole = to_integral<kRound>(v);
  constexpr I kLeast = std::is_signed_v<I> ? static_cast<I>(u64{1} << (sizeof(I) * 8 - 1)) : I{0};
  constexpr I kMost = static_cast<I>(~kLeast);
  if (whole <= static_cast<F>(kLeast)) return kLeast;
  if (whole >= static_cast<F>(kMost)) return kMost;
  return static_cast<I>(whole);
}
// To a float, from an integer or another float.
template <class T, Round kRound, class From>
SOFTGPU_INLINE T to_float(From v) {
  if constexpr (kRound == Round::kNearest) {
    return static_cast<T>(v);
  } else {
    return rounded<kRound, T>([v] { return static_cast<T>(opaque(v)); });
  }
}

}  // namespace softgpu
