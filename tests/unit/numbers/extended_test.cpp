// x86's long double in integers is the processor's to the bit: for numbers of all kinds.
#include "host/ops/collectives/extended.cuh"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

namespace chime::host {
namespace {

constexpr std::uint64_t kSign = 0x8000, kHighest = std::uint64_t{1} << 63;
constexpr int kPairs = 1'000'000;

long double number(Extended x) {
  long double value;
  std::memcpy(&value, &x, sizeof(value));
  return value;
}
Extended bits_of(long double value) {
  Extended bits = {};
  std::memcpy(&bits, &value, 10);
  return bits;
}

class Numbers {
 public:
  // Any bits: also encodings that processors refuse, and padding that is not 0.
  Extended next() {
    Extended x = {random_(), random_()};
    switch (random_() % 10) {
      case 0:
        return x;
      case 1:
        return with_exponent(x, 0);
      case 2:
        return with_exponent({x.significand >> random_() % 64, x.sign_and_exponent}, 0);
      case 3:
        return with_exponent({0, x.sign_and_exponent}, 0);
      case 4:
        return with_exponent(x, 0x7fff);
      case 5:
        return with_exponent({kHighest, x.sign_and_exponent}, 0x7fff);
      case 6:
        return normal(x, 1 + random_() % 3);
      case 7:  // products at the bound of what there is
        return normal(x, 0x1fff + random_() % 70);
      case 8:
        return normal(x, 16383 + random_() % 130);
      default:  // many bits of 0: halves, and sums that cancel
        return normal({x.significand & ~std::uint64_t{0} << random_() % 64, x.sign_and_exponent},
                      16383 + random_() % 4);
    }
  }
  // Close to -x.
  Extended opposite(Extended x) {
    return {x.significand ^ random_() % 4, x.sign_and_exponent ^ kSign};
  }
  bool one_in(unsigned n) { return random_() % n == 0; }

 private:
  static Extended with_exponent(Extended x, std::uint64_t exponent) {
    return {x.significand, (x.sign_and_exponent & ~std::uint64_t{0x7fff}) | exponent};
  }
  static Extended normal(Extended x, std::uint64_t exponent) {
    return with_exponent({x.significand | kHighest, x.sign_and_exponent}, exponent);
  }

  std::mt19937_64 random_{1};
};

void expect_same(Extended a, Extended b, const char* operation, Extended got, long double wanted) {
  const Extended bits = bits_of(wanted);
  const bool is_same =
      wanted != wanted ? number(got) != number(got) : std::memcmp(&bits, &got, 10) == 0;
  ASSERT_TRUE(is_same) << std::hex << (a.sign_and_exponent & 0xffff) << ":" << a.significand << " "
                       << operation << " " << (b.sign_and_exponent & 0xffff) << ":" << b.significand
                       << " is " << (got.sign_and_exponent & 0xffff) << ":" << got.significand
                       << ", and not " << bits.sign_and_exponent << ":" << bits.significand;
}

TEST(Extended, IsTheProcessorsLongDouble) {
  if (std::numeric_limits<long double>::digits != 64)
    GTEST_SKIP() << "this processor has another long double";
  Numbers numbers;
  for (int i = 0; i < kPairs; ++i) {
    const Extended a = numbers.next();
    const Extended b = numbers.one_in(8) ? numbers.opposite(a) : numbers.next();
    const long double x = number(a), y = number(b);
    ASSERT_NO_FATAL_FAILURE(expect_same(a, b, "+", a + b, x + y));
    ASSERT_NO_FATAL_FAILURE(expect_same(a, b, "*", a * b, x * y));
    ASSERT_EQ(x < y, a < b) << i;
    ASSERT_EQ(x > y, a > b) << i;
    ASSERT_EQ(x != y, a != b) << i;
  }
}

}  // namespace
}  // namespace chime::host
