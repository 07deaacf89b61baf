// half and bfloat16 of the softgpu's headers against an oracle without arithmetic: the table of all
// their values, in which it looks up the nearest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace {

// Enough bits for a product and a sum of the drawn values.
using Exact = __float128;

struct HalfFormat {
  using T = __half;
  static constexpr int kMantissa = 10, kExponent = 5;
};
struct Bfloat16Format {
  using T = __nv_bfloat16;
  static constexpr int kMantissa = 7, kExponent = 8;
};

template <class Format>
class SmallFloat : public testing::Test {
 protected:
  using T = typename Format::T;
  static constexpr int kBias = (1 << (Format::kExponent - 1)) - 1;
  static constexpr unsigned kInfinity = ((1u << Format::kExponent) - 1) << Format::kMantissa;
  static constexpr unsigned kSign = 0x8000;

  // The value of these bits, positive and finite.
  static double value_of(unsigned bits) {
    const int exponent = static_cast<int>(bits >> Format::kMantissa);
    const unsigned mantissa = bits & ((1u << Format::kMantissa) - 1);
    return exponent == 0 ? std::ldexp(mantissa, 1 - kBias - Format::kMantissa)
                         : std::ldexp(mantissa | 1u << Format::kMantissa,
                                      exponent - kBias - Format::kMantissa);
  }

  static unsigned nearest(Exact exact) {
    const unsigned sign = exact < 0 ? kSign : 0;
    if (exact < 0) exact = -exact;
    static const std::vector<double> values = [] {
      std::vector<double> all;
      for (unsigned bits = 0; bits < kInfinity; ++bits) all.push_back(value_of(bits));
      all.push_back(2 * all.back() - all[kInfinity - 2]);  // where the next would be: infinity
      return all;
    }();
    const auto above =
        std::ranges::lower_bound(values, exact, {}, [](double v) { return Exact{v}; });
    if (above == values.end()) return sign | kInfinity;
    const auto bits = static_cast<unsigned>(above - values.begin());
    if (bits == 0) return sign;
    const Exact up = Exact{*above} - exact, down = exact - Exact{values[bits - 1]};
    const bool take_upper = up < down || (up == down && bits % 2 == 0);
    return sign | (take_upper ? bits : bits - 1);
  }

  // A finite value whose exponent leaves room in Exact.
  T draw() {
    const unsigned exponent = kBias - 12 + random_() % 24;
    const unsigned mantissa = random_() & ((1u << Format::kMantissa) - 1);
    const unsigned sign = random_() % 2 * kSign;
    const unsigned bits =
        sign | std::min(exponent, kInfinity >> Format::kMantissa) << Format::kMantissa | mantissa;
    return T::of_bits(static_cast<unsigned short>(bits));
  }
  static Exact exact(T value) {
    const double magnitude = value_of(value.bits & 0x7fffu);
    return (value.bits & kSign) != 0 ? -magnitude : magnitude;
  }
  static T nan() { return T::of_bits(0x7fff); }

  std::mt19937 random_{20};
};

using Formats = testing::Types<HalfFormat, Bfloat16Format>;
TYPED_TEST_SUITE(SmallFloat, Formats);

TYPED_TEST(SmallFloat, BecomesTheFloatThatItsBitsMean) {
  using T = typename TypeParam::T;
  for (unsigned bits = 0; bits < this->kInfinity; ++bits) {
    const auto value = static_cast<float>(this->value_of(bits));
    ASSERT_EQ(static_cast<float>(T::of_bits(bits)), value) << bits;
    ASSERT_EQ(static_cast<float>(T::of_bits(bits | this->kSign)), -value) << bits;
  }
  EXPECT_TRUE(std::signbit(static_cast<float>(T::of_bits(this->kSign))));
  EXPECT_EQ(static_cast<float>(T::of_bits(this->kInfinity)),
            std::numeric_limits<float>::infinity());
  for (unsigned bits = this->kInfinity + 1; bits <= 0x7fff; ++bits)
    ASSERT_TRUE(std::isnan(static_cast<float>(T::of_bits(bits)))) << bits;
}

// Around every midpoint of two values: on it, and next to it on both sides.
TYPED_TEST(SmallFloat, IsTheNearestToADoubleAndTheEvenOneInTheMiddle) {
  using T = typename TypeParam::T;
  for (unsigned bits = 0; bits < this->kInfinity; ++bits) {
    const double value = this->value_of(bits);
    const double next = bits + 1 < this->kInfinity ? this->value_of(bits + 1)
                                                   : 2 * value - this->value_of(bits - 1);
    const double middle = value + (next - value) / 2;
    const unsigned even = bits + bits % 2;
    ASSERT_EQ(T(value).bits, bits);
    ASSERT_EQ(T(middle).bits, even) << bits;
    ASSERT_EQ(T(std::nextafter(middle, 0)).bits, bits);
    ASSERT_EQ(T(std::nextafter(middle, 1e300)).bits, bits + 1);
    ASSERT_EQ(T(-middle).bits, this->kSign | even) << bits;
  }
  EXPECT_EQ(T(1e300).bits, this->kInfinity);
  EXPECT_EQ(T(-0.0).bits, this->kSign);
  EXPECT_EQ(T(-1e-300).bits, this->kSign);
  EXPECT_EQ(T(std::numeric_limits<double>::quiet_NaN()).bits, 0x7fff);
  EXPECT_EQ(T(-std::numeric_limits<float>::infinity()).bits, this->kSign | this->kInfinity);
}

TYPED_TEST(SmallFloat, IsTheNearestToAnInteger) {
  using T = typename TypeParam::T;
  for (int i = -70000; i < 70000; ++i) ASSERT_EQ(T(i).bits, this->nearest(i)) << i;
  for (int turn = 0; turn < 10000; ++turn) {
    const auto bits = static_cast<std::uint64_t>(this->random_()) << 32 | this->random_();
    const std::uint64_t value = bits >> this->random_() % 64;
    ASSERT_EQ(T(value).bits, this->nearest(value)) << value;
    const auto negative = -static_cast<long long>(value >> 1);
    ASSERT_EQ(T(negative).bits, this->nearest(negative)) << negative;
  }
  // One above the midpoint of two values, which a double cannot represent.
  EXPECT_EQ(T((1ull << 63) + (1ull << 55) + 1).bits,
            this->nearest(Exact(1ull << 63) + (1ull << 55) + 1));
  EXPECT_EQ(T((1ull << 63) + (1ull << 55)).bits, this->nearest(Exact(1ull << 63) + (1ull << 55)));
}

TYPED_TEST(SmallFloat, ComputesWhatIsExactRoundedOnce) {
  using T = typename TypeParam::T;
  for (int turn = 0; turn < 200000; ++turn) {
    const T a = this->draw(), b = this->draw(), c = this->draw();
    const Exact x = this->exact(a), y = this->exact(b), z = this->exact(c);
    ASSERT_EQ((a * b).bits & 0x7fffu, this->nearest(x * y) & 0x7fffu);
    ASSERT_EQ((a / b).bits, this->nearest(x / y)) << a.bits << " / " << b.bits;
    const auto is = [&](T result, Exact exact) {  // the sign of a zero depends on the operation
      return exact == 0 ? (result.bits & 0x7fffu) == 0 : result.bits == this->nearest(exact);
    };
    ASSERT_TRUE(is(a + b, x + y)) << a.bits << " + " << b.bits;
    ASSERT_TRUE(is(a - b, x - y)) << a.bits << " - " << b.bits;
    ASSERT_TRUE(is(__hfma(a, b, c), x * y + z)) << a.bits << " * " << b.bits << " + " << c.bits;
    ASSERT_EQ(a < b, x < y);
    ASSERT_EQ(a >= b, x >= y);
    ASSERT_EQ(a == b, x == y);
  }
}

// A product at the midpoint of two values, and slightly more or less: by less than a double
// resolves.
TYPED_TEST(SmallFloat, MultipliesAndAddsWithOneRounding) {
  using T = typename TypeParam::T;
  constexpr int kHalfStep = TypeParam::kMantissa + 1;
  const T a = 1 + std::ldexp(1.0, -kHalfStep / 2),
          little = std::ldexp(1.0, std::max(1 - this->kBias - TypeParam::kMantissa, -100));
  const T b = 1 + std::ldexp(1.0, -(kHalfStep - kHalfStep / 2));
  const Exact middle = this->exact(a) * this->exact(b);
  for (const T c : {T(0), little, T(-little)})
    for (const T sign : {T(1), T(-1)})
      EXPECT_EQ(__hfma(a, sign * b, c).bits,
                this->nearest(this->exact(sign) * middle + this->exact(c)))
          << c.bits;
}

TYPED_TEST(SmallFloat, IsNoNumberWhereThatIsInPlay) {
  using T = typename TypeParam::T;
  const T nan = this->nan(), one = 1, infinity = T::of_bits(this->kInfinity);
  EXPECT_TRUE(__hisnan(nan + one));
  EXPECT_TRUE(__hisnan(infinity - infinity));
  EXPECT_TRUE(__hisnan(T(0) / T(0)));
  EXPECT_EQ((nan * one).bits, 0x7fff);
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(nan != nan);
  EXPECT_FALSE(__hne(nan, one));  // the documented difference: false where one operand is NaN
  EXPECT_TRUE(__hneu(nan, one));
  EXPECT_TRUE(__hequ(nan, one));
  EXPECT_FALSE(nan < one || nan > one || nan <= one || nan >= one);
  EXPECT_EQ(__hmax(nan, one).bits, one.bits);
  EXPECT_EQ(__hmin(one, nan).bits, one.bits);
  EXPECT_TRUE(__hisnan(__hmax(nan, nan)));
  EXPECT_EQ(__hmax(T(-0.0), T(0.0)).bits, 0u);
  EXPECT_EQ(__hmin(T(0.0), T(-0.0)).bits, this->kSign);
  EXPECT_EQ(__hisinf(infinity), 1);
  EXPECT_EQ(__hisinf(-infinity), -1);
  EXPECT_EQ((-nan).bits, 0xffff);
  EXPECT_EQ(__habs(T(-2)).bits, T(2).bits);
}

TEST(Half, BecomesIntegersByTheRoundingInTheName) {
  EXPECT_EQ(__half2int_rz(__half(-2.5)), -2);
  EXPECT_EQ(__half2int_rn(__half(2.5)), 2);
  EXPECT_EQ(__half2int_rn(__half(3.5)), 4);
  EXPECT_EQ(__half2int_rn(__half(-2.5)), -2);
  EXPECT_EQ(__half2uint_rz(__half(-3)), 0u);
  EXPECT_EQ(__half2short_rz(__half(60000)), 32767);
  EXPECT_EQ(__half2ushort_rn(__half(60000)), 60000);
  EXPECT_EQ(__half2ll_rz(__half::of_bits(0x7c00)), std::numeric_limits<long long>::max());
  EXPECT_EQ(__half2ll_rz(__half::of_bits(0xfc00)), std::numeric_limits<long long>::min());
  EXPECT_EQ(__half2ull_rz(__half::of_bits(0x7c00)), std::numeric_limits<unsigned long long>::max());
  EXPECT_EQ(__half2int_rn(__half::of_bits(0x7e00)), 0);
}

TEST(Bfloat16, BecomesIntegersByTheRoundingInTheName) {
  EXPECT_EQ(__bfloat162int_rn(__nv_bfloat16(3e38)), std::numeric_limits<int>::max());
  EXPECT_EQ(__bfloat162ll_rn(__nv_bfloat16(1099511627776.0)), 1099511627776);
  EXPECT_EQ(__bfloat162short_rz(__nv_bfloat16(-1.75)), -1);
}

}  // namespace
