// The sum and the product of complex numbers are C's: of numbers to the bit, and infinite where C's
// are.
#include "host/ops/collectives/complex.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace chime::host {
namespace {

template <class Real>
std::complex<Real> of(Complex<Real> x) {
  return {x.real, x.imaginary};
}
template <class Real>
bool is_infinite(std::complex<Real> x) {
  return std::isinf(x.real()) || std::isinf(x.imag());
}
template <class Real>
bool is_number(std::complex<Real> x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}

// Numbers to the bit; what is none in C is none here. An infinite product has infinite parts of
// C's signs.
template <class Real>
void expect_same(std::complex<Real> wanted, std::complex<Real> got) {
  const auto is_same = [](Real a, Real b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
  };
  EXPECT_TRUE(is_same(wanted.real(), got.real()) && is_same(wanted.imag(), got.imag()))
      << got << ", and not " << wanted;
}

// All pairs of numbers whose parts are these values or their opposites.
template <class Real>
void expect_those_of_c() {
  using Limits = std::numeric_limits<Real>;
  std::vector<Real> parts;
  for (const Real part :
       {Real{0}, Real{1}, Real{1} / 3, Limits::min(), Limits::denorm_min(), Limits::max(),
        Limits::max() / 2, Limits::infinity(), Limits::quiet_NaN()})
    for (const Real sign : {Real{1}, Real{-1}}) parts.push_back(sign * part);
  for (const Real a : parts)
    for (const Real b : parts)
      for (const Real c : parts)
        for (const Real d : parts) {
          SCOPED_TRACE(testing::Message() << a << " " << b << " and " << c << " " << d);
          const Complex<Real> one = {a, b}, other = {c, d};
          expect_same(of(one) * of(other), of(one * other));
          expect_same(of(one) + of(other), of(one + other));
          if (testing::Test::HasFailure()) return;
        }
}

TEST(Complex, OfFloatsIsThatOfC) { expect_those_of_c<float>(); }
TEST(Complex, OfDoublesIsThatOfC) { expect_those_of_c<double>(); }

TEST(Complex, ProductOfAnInfiniteOneIsInfinite) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const Complex<double> infinite = {kInfinite, kInfinite}, number = {1, 0};
  EXPECT_TRUE(is_infinite(of(infinite * number)));
  EXPECT_TRUE(is_infinite(of(number * infinite)));
  EXPECT_FALSE(is_number(of(infinite * Complex<double>{0, 0})));
}

}  // namespace
}  // namespace chime::host
