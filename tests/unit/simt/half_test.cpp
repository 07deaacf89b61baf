// Conversions of the CPU device's half and bfloat16: to the nearest, ties to the even one. The
// oracle is a value's definition, sign x significand x 2^exponent, in double, which holds every
// midpoint.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "chime/device/exec/exec.cuh"

namespace chime::exec {
namespace {

struct Format {
  int significand_bits, bias;
};
constexpr Format kHalf{10, 15}, kBfloat16{7, 127};

double value_of(unsigned bits, const Format& format) {
  const unsigned ones = 1u << format.significand_bits;
  const unsigned exponent = bits / ones, significand = bits % ones;
  const int least = 1 - format.bias - format.significand_bits;
  return exponent == 0 ? std::ldexp(significand, least)
                       : std::ldexp(significand + ones, least + static_cast<int>(exponent) - 1);
}

// `to_bits(float)` for the midpoints of two neighbours, for all finite neighbours and for the
// largest one and infinity's encoding, which would follow it. Midpoints have one bit more than the
// format and are exact in float, also for subnormal bfloat16.
template <class ToBits>
void expect_nearest(const Format& format, unsigned infinity, ToBits to_bits) {
  for (unsigned low = 0; low < infinity; ++low) {
    const auto middle = static_cast<float>((value_of(low, format) + value_of(low + 1, format)) / 2);
    const unsigned even = low % 2 == 0 ? low : low + 1;
    ASSERT_EQ(to_bits(static_cast<float>(value_of(low, format))), low);
    ASSERT_EQ(to_bits(middle), even) << "between " << low << " and the next";
    ASSERT_EQ(to_bits(std::nextafter(middle, 0.0f)), low) << "below the middle";
    ASSERT_EQ(to_bits(std::nextafter(middle, INFINITY)), low + 1) << "above the middle";
    ASSERT_EQ(to_bits(-middle), even | 0x8000u) << "the negative of the middle";
  }
}

unsigned half_of(float value) { return std::bit_cast<std::uint16_t>(half(value)); }
unsigned bfloat16_of(float value) { return std::bit_cast<std::uint16_t>(bfloat16(value)); }

TEST(Half, IsTheNearestAndOfTwoTheEvenOne) { expect_nearest(kHalf, 0x7c00, half_of); }
TEST(Bfloat16, IsTheNearestAndOfTwoTheEvenOne) { expect_nearest(kBfloat16, 0x7f80, bfloat16_of); }

TEST(Half, GivesItsValueBack) {
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const auto value = std::bit_cast<half>(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(static_cast<double>(static_cast<float>(value)), value_of(bits, kHalf)) << bits;
  }
}

}  // namespace
}  // namespace chime::exec
