// Floating point arithmetic and conversions of PTX. .approx forms use libm, which is within PTX's
// bounds. PTX does not say which NaN a result of f32 is.
#pragma once

#include <cfenv>
#include <limits>

#include "softgpu/vocabulary/libm.hpp"
#include "softgpu/vocabulary/values.hpp"

namespace softgpu {

enum class Round { kNearest, kZero, kDown, kUp };

template <class T>
SOFTGPU_INLINE T flushed(T v) {  // .ftz
  return libm::fabs(v) < std::numeric_limits<T>::min() ? libm::copysign(T{0}, v) : v;
}
// .sat: into [0, 1]; NaN is 0.
template <class T>
SOFTGPU_INLINE T unit_range(T v) {
  return v > T{0} ? (v > T{1} ? T{1} : v) : T{0};
}

// `operation` with a rounding other than to nearest. No switch of threads happens in it, so the
// executor does not see the processor's changed mode.
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
// Hides a value from the compiler: then arithmetic with it stays in its place.
template <class T>
SOFTGPU_INLINE T opaque(T v) {
  __asm__ volatile("" : "+m"(v));
  return v;
}

// div.approx: a * (1/b). The reciprocal is 0 if b is beyond 2^126.
SOFTGPU_INLINE f32 approximate_quotient(f32 a, f32 b) {
  const bool has_reciprocal = !(libm::fabs(b) > 0x1p126f) || libm::is_infinite(b);
  return has_reciprocal ? a / b : a * libm::copysign(0.0f, b);
}

// If one operand is NaN, the other one; -0 is less than +0.
template <class T>
SOFTGPU_INLINE T min(T a, T b) {
  if (a != a) return b != b ? canonical_nan<T>() : b;
  if (b != b) return a;
  if (a == b) return libm::is_negative(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
SOFTGPU_INLINE T max(T a, T b) {
  if (a != a) return b != b ? canonical_nan<T>() : b;
  if (b != b) return a;
  if (a == b) return libm::is_negative(a) ? b : a;
  return a < b ? b : a;
}
// .NaN: NaN if one operand is.
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
  if constexpr (kRound == Round::kZero) return libm::trunc(v);
  if constexpr (kRound == Round::kDown) return libm::floor(v);
  if constexpr (kRound == Round::kUp) return libm::ceil(v);
  return libm::nearbyint(v);
}

// NaN as an integer: 0, or only the highest bit if either side has 64 bits.
template <class I, class F>
SOFTGPU_INLINE I integer_of_nan() {
  constexpr bool kIsWide = sizeof(F) == 8 || sizeof(I) == 8;
  return kIsWide ? static_cast<I>(u64{1} << (sizeof(I) * 8 - 1)) : I{0};
}
// A value out of range becomes the nearest in it.
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
