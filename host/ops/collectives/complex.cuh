// Complex numbers as reductions combine them: laid out as C's and C++'s, with their sum and
// product. Each real product is rounded by itself, so kernels of a GPU have C's results on x86.
#pragma once

#include "chime/device/exec/exec.cuh"
#include "chime/host_ops.h"

namespace chime::host {

template <class Real>
struct Complex {
  static constexpr int kElement = CHIME_ELEMENT_COMPLEX;
  Real real, imaginary;
};

template <class Real>
CHIME_DEVICE bool is_infinite(Real value) {
  return value == value && value - value != 0;
}
template <class Real>
CHIME_DEVICE bool is_infinite(Complex<Real> value) {
  return is_infinite(value.real) || is_infinite(value.imaginary);
}

// The direction in which an infinite number lies: 1 or -1 for its infinite parts, else 0.
template <class Real>
CHIME_DEVICE Real direction_of(Real part) {
  if (!is_infinite(part)) return 0;
  return part > 0 ? Real{1} : Real{-1};
}
template <class Real>
CHIME_DEVICE Complex<Real> direction_of(Complex<Real> value) {
  return {direction_of(value.real), direction_of(value.imaginary)};
}
template <class Real>
CHIME_DEVICE Complex<Real> without_nan(Complex<Real> value) {
  return {value.real == value.real ? value.real : 0,
          value.imaginary == value.imaginary ? value.imaginary : 0};
}

template <class Real>
CHIME_DEVICE Complex<Real> operator+(Complex<Real> a, Complex<Real> b) {
  return {a.real + b.real, a.imaginary + b.imaginary};
}

template <class Real>
CHIME_DEVICE Complex<Real> plain_product(Complex<Real> a, Complex<Real> b) {
  using exec::rounded_product;
  return {rounded_product(a.real, b.real) - rounded_product(a.imaginary, b.imaginary),
          rounded_product(a.real, b.imaginary) + rounded_product(a.imaginary, b.real)};
}

// The product where the plain one is NaN in both parts. As in C's Annex G, it is infinite if a
// factor is infinite or a partial product has overflowed.
template <class Real>
CHIME_DEVICE Complex<Real> product_beyond(Complex<Real> a, Complex<Real> b) {
  constexpr auto kInfinite = static_cast<Real>(__builtin_huge_val());
  const bool a_is_infinite = is_infinite(a), b_is_infinite = is_infinite(b);
  const bool overflows = is_infinite(a.real * b.real) || is_infinite(a.imaginary * b.imaginary) ||
                         is_infinite(a.real * b.imaginary) || is_infinite(a.imaginary * b.real);
  if (!a_is_infinite && !b_is_infinite && !overflows) return plain_product(a, b);
  const Complex<Real> product = plain_product(a_is_infinite ? direction_of(a) : without_nan(a),
                                              b_is_infinite ? direction_of(b) : without_nan(b));
  return {kInfinite * product.real, kInfinite * product.imaginary};
}

// Out of line: where a host compiler fuses product and sum, it does so alike for all algorithms.
template <class Real>
CHIME_DEVICE_OUT_OF_LINE Complex<Real> operator*(Complex<Real> a, Complex<Real> b) {
  const Complex<Real> product = plain_product(a, b);
  const bool is_nan = product.real != product.real && product.imaginary != product.imaginary;
  return is_nan ? product_beyond(a, b) : product;
}

}  // namespace chime::host
