// Floating point: roundings, infinities, NaN, zeros with signs, subnormals.
#include <cmath>

#include "form_case.hpp"

namespace softgpu::tests {

namespace {

constexpr float kTiny = 0x1p-149f, kEps = 0x1p-24f;  // half of the last place of 1
constexpr double kEps64 = 0x1p-53;

Table sums() {
  const float up = std::nextafter(1.0f, 2.0f), down = std::nextafter(1.0f, 0.0f);
  const double up64 = std::nextafter(1.0, 2.0);
  return {
      {"add.f32 $d, $a, $b;",
       "f32 : f32 f32",
       {{f(1.5f), f(2.25f), f(3.75f)},
        {f(1), f(kEps), f(1)},
        {kInf, kInf | kMinus, kNan},
        {kNan, f(1), kNan},
        {f(kTiny), f(kTiny), 2},
        {f(3e38f), f(3e38f), kInf}}},
      {"add.rn.f32 $d, $a, $b;",
       "f32 : f32 f32",
       {{f(1), f(kEps), f(1)}, {f(up), f(kEps), f(up + 2 * kEps)}}},
      {"add.rz.f32 $d, $a, $b;",
       "f32 : f32 f32",
       {{f(1), f(1.9f * kEps), f(1)}, {f(-1), f(-1.9f * kEps), f(-1)}}},
      {"add.rm.f32 $d, $a, $b;",
       "f32 : f32 f32",
       {{f(1), f(-kTiny), f(down)}, {f(1), f(kTiny), f(1)}}},
      {"add.rp.f32 $d, $a, $b;",
       "f32 : f32 f32",
       {{f(1), f(kTiny), f(up)}, {f(-1), f(-kTiny), f(-1)}}},
      {"add.ftz.f32 $d, $a, $b;",
       "f32 : f32 f32",
       {{f(kTiny), f(0), 0}, {1, 1, 0}, {f(1), f(2), f(3)}}},
      {"add.sat.f32 $d, $a, $b;",
       "f32 : f32 f32",
       {{f(1), f(1), f(1)}, {f(-1), f(0), 0}, {kNan, f(1), 0}}},
      {"add.f64 $d, $a, $b;",
       "f64 : f64 f64",
       {{d(1.5), d(2.25), d(3.75)}, {kInf64, kInf64 | kMinus64, kNan64}}},
      {"add.rn.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1), d(kEps64), d(1)}}},
      {"add.rz.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1), d(1.9 * kEps64), d(1)}}},
      {"add.rm.f64 $d, $a, $b;", "f64 : f64 f64", {{d(-1), d(-kEps64 / 4), d(-up64)}}},
      {"add.rp.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1), d(kEps64 / 4), d(up64)}}},
      {"sub.f32 $d, $a, $b;",
       "f32 : f32 f32",
       {{f(1.5f), f(2.25f), f(-0.75f)}, {kInf, kInf, kNan}, {f(1), f(1), 0}}},
      {"sub.rn.f32 $d, $a, $b;", "f32 : f32 f32", {{f(1), f(kEps / 4), f(1)}}},
      {"sub.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1.5), d(2.25), d(-0.75)}}},
      {"sub.rn.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1.5), d(2.25), d(-0.75)}}},
      {"mul.f32 $d, $a, $b;",
       "f32 : f32 f32",
       {{f(1.5f), f(-2), f(-3)},
        {0, kInf, kNan},
        {f(-0.0f), f(5), f(-0.0f)},
        {f(2e38f), f(2), kInf}}},
      {"mul.rn.f32 $d, $a, $b;", "f32 : f32 f32", {{f(up), f(up), f(up * up)}}},
      {"mul.rz.f32 $d, $a, $b;", "f32 : f32 f32", {{f(down), f(down), f(1 - 4 * kEps / 2)}}},
      {"mul.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1.5), d(-2), d(-3)}, {0, kInf64, kNan64}}},
      {"mul.rn.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1.5), d(-2), d(-3)}}},
  };
}

Table fused_and_divided() {
  const float up = std::nextafter(1.0f, 2.0f);
  const double up64 = std::nextafter(1.0, 2.0);
  Table table;
  // Rounded once: a square of 1 + 2^-12 that is rounded before the sum loses 2^-24.
  for (const char* name : {"fma", "mad"}) {
    add(table, {{std::string(name) + ".rn.f32 $d, $a, $b, $c;",
                 "f32 : f32 f32 f32",
                 {{f(1 + 0x1p-12f), f(1 + 0x1p-12f), f(-1 - 0x1p-11f), f(0x1p-24f)},
                  {kInf, 0, f(1), kNan},
                  {f(2), f(3), f(4), f(10)}}},
                {std::string(name) + ".rn.f64 $d, $a, $b, $c;",
                 "f64 : f64 f64 f64",
                 {{d(1 + 0x1p-27), d(1 + 0x1p-27), d(-1 - 0x1p-26), d(0x1p-54)},
                  {d(2), d(3), d(4), d(10)}}}});
  }
  add(table,
      {{"fma.rz.f32 $d, $a, $b, $c;", "f32 : f32 f32 f32", {{f(1), f(1), f(1.9f * kEps), f(1)}}},
       {"fma.rp.f32 $d, $a, $b, $c;", "f32 : f32 f32 f32", {{f(1), f(1), f(kTiny), f(up)}}},
       {"fma.rm.f64 $d, $a, $b, $c;",
        "f64 : f64 f64 f64",
        {{d(-1), d(1), d(-kEps64 / 4), d(-up64)}}},
       {"div.rn.f32 $d, $a, $b;",
        "f32 : f32 f32",
        {{f(1), f(3), f(1.0f / 3)}, {f(1), 0, kInf}, {f(-1), 0, kInf | kMinus}, {0, 0, kNan}}},
       {"div.rz.f32 $d, $a, $b;",
        "f32 : f32 f32",
        {{f(2), f(3), f(std::nextafter(2.0f / 3, 0.0f))}}},
       {"div.rn.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1), d(3), d(1.0 / 3)}, {d(1), 0, kInf64}}},
       {"div.full.f32 $d, $a, $b;",
        "f32 : f32 f32",
        {{f(6), f(3), f(2)}, {f(0x1p127f), f(0x1p127f), f(1)}}},
       // Beyond 2^126 a divisor has no reciprocal.
       {"div.approx.f32 $d, $a, $b;",
        "f32 : f32 f32",
        {{f(6), f(3), f(2)},
         {f(0x1p126f), f(0x1p126f), f(1)},
         {f(0x1p127f), f(0x1p127f), 0},
         {f(3), f(0x1.8p126f), 0},
         {kInf, f(0x1p127f), kNan},
         {f(3), kInf, 0},
         {f(1), 0, kInf}}},
       {"rcp.rn.f32 $d, $a;",
        "f32 : f32",
        {{f(4), f(0.25f)}, {f(3), f(1.0f / 3)}, {kMinus, kInf | kMinus}}},
       {"rcp.rn.f64 $d, $a;", "f64 : f64", {{d(4), d(0.25)}}},
       {"rcp.approx.ftz.f32 $d, $a;", "f32 : f32", {{f(4), f(0.25f)}, {1, kInf}}},
       {"sqrt.rn.f32 $d, $a;",
        "f32 : f32",
        {{f(2), f(std::sqrt(2.0f))}, {f(-1), kNan}, {kMinus, kMinus}}},
       {"sqrt.rn.f64 $d, $a;", "f64 : f64", {{d(2), d(std::sqrt(2.0))}}},
       {"sqrt.approx.f32 $d, $a;", "f32 : f32", {{f(9), f(3)}}},
       {"rsqrt.approx.f32 $d, $a;", "f32 : f32", {{f(4), f(0.5f)}, {0, kInf}}},
       {"ex2.approx.f32 $d, $a;", "f32 : f32", {{f(3), f(8)}, {kInf | kMinus, 0}}},
       {"lg2.approx.f32 $d, $a;", "f32 : f32", {{f(8), f(3)}, {0, kInf | kMinus}}},
       {"sin.approx.f32 $d, $a;", "f32 : f32", {{0, 0}}},
       {"cos.approx.f32 $d, $a;", "f32 : f32", {{0, f(1)}}},
       {"tanh.approx.f32 $d, $a;", "f32 : f32", {{0, 0}, {f(40), f(1)}}}});
  return table;
}

Table signs_and_extrema() {
  constexpr std::uint64_t kCanonical = 0x7fffffff, kMinusZero = kMinus;
  return {
      {"neg.f32 $d, $a;", "b32 : f32", {{f(1), f(-1)}, {0, kMinusZero}, {kNan, kNan | kMinus}}},
      {"neg.f64 $d, $a;", "b64 : f64", {{d(1), d(-1)}, {0, kMinus64}}},
      {"abs.f32 $d, $a;", "b32 : f32", {{f(-1), f(1)}, {kMinusZero, 0}, {kInf | kMinus, kInf}}},
      {"abs.f64 $d, $a;", "b64 : f64", {{d(-1), d(1)}, {kMinus64, 0}}},
      {"copysign.f32 $d, $a, $b;", "b32 : f32 f32", {{f(-1), f(5), f(-5)}, {f(1), f(-5), f(5)}}},
      {"copysign.f64 $d, $a, $b;", "b64 : f64 f64", {{d(-1), d(5), d(-5)}}},
      // The operand that is a number; -0 is less than +0.
      {"min.f32 $d, $a, $b;",
       "b32 : f32 f32",
       {{f(1), f(2), f(1)},
        {kNan, f(2), f(2)},
        {f(2), kNan, f(2)},
        {kNan, kNan, kCanonical},
        {0, kMinusZero, kMinusZero},
        {kMinusZero, 0, kMinusZero}}},
      {"max.f32 $d, $a, $b;",
       "b32 : f32 f32",
       {{f(1), f(2), f(2)},
        {kNan, f(2), f(2)},
        {f(2), kNan, f(2)},
        {kNan, kNan, kCanonical},
        {0, kMinusZero, 0},
        {kMinusZero, 0, 0}}},
      {"min.NaN.f32 $d, $a, $b;", "b32 : f32 f32", {{kNan, f(2), kCanonical}, {f(1), f(2), f(1)}}},
      {"max.NaN.f32 $d, $a, $b;", "b32 : f32 f32", {{f(2), kNan, kCanonical}, {f(1), f(2), f(2)}}},
      {"min.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1), d(2), d(1)}, {kNan64, d(2), d(2)}}},
      {"max.f64 $d, $a, $b;", "f64 : f64 f64", {{d(1), d(2), d(2)}, {d(2), kNan64, d(2)}}},
      {"testp.finite.f32 $d, $a;", "pred : f32", {{f(1), 1}, {kInf, 0}, {kNan, 0}}},
      {"testp.infinite.f32 $d, $a;", "pred : f32", {{f(1), 0}, {kInf, 1}, {kNan, 0}}},
      {"testp.number.f32 $d, $a;", "pred : f32", {{f(1), 1}, {kInf, 1}, {kNan, 0}}},
      {"testp.notanumber.f32 $d, $a;", "pred : f32", {{f(1), 0}, {kNan, 1}}},
      {"testp.normal.f64 $d, $a;", "pred : f64", {{d(1), 1}, {1, 0}, {0, 0}}},
      {"testp.subnormal.f32 $d, $a;", "pred : f32", {{1, 1}, {f(1), 0}, {0, 0}}},
  };
}

// 1 is 0x3c00, 2 is 0x4000, 3 is 0x4200; of bfloat16 0x3f80, 0x4000, 0x4040.
Table halves() {
  return {
      {"add.f16 $d, $a, $b;",
       "b16 : b16 b16",
       {{0x3c00, 0x4000, 0x4200}, {0x7bff, 0x7bff, 0x7c00}}},
      {"add.rn.f16 $d, $a, $b;", "b16 : b16 b16", {{0x3c00, 0x1000, 0x3c00}}},
      {"sub.f16 $d, $a, $b;", "b16 : b16 b16", {{0x4200, 0x4000, 0x3c00}}},
      {"sub.rn.f16 $d, $a, $b;", "b16 : b16 b16", {{0x4200, 0x4000, 0x3c00}}},
      {"mul.f16 $d, $a, $b;", "b16 : b16 b16", {{0x4200, 0x4000, 0x4600}}},
      {"mul.rn.f16 $d, $a, $b;", "b16 : b16 b16", {{0x4200, 0x4000, 0x4600}}},
      {"neg.f16 $d, $a;", "b16 : b16", {{0x3c00, 0xbc00}}},
      {"abs.f16 $d, $a;", "b16 : b16", {{0xbc00, 0x3c00}}},
      {"add.rn.bf16 $d, $a, $b;", "b16 : b16 b16", {{0x3f80, 0x4000, 0x4040}}},
      {"sub.rn.bf16 $d, $a, $b;", "b16 : b16 b16", {{0x4040, 0x4000, 0x3f80}}},
      {"mul.rn.bf16 $d, $a, $b;", "b16 : b16 b16", {{0x4040, 0x4000, 0x40c0}}},
      {"neg.bf16 $d, $a;", "b16 : b16", {{0x3f80, 0xbf80}}},
      {"abs.bf16 $d, $a;", "b16 : b16", {{0xbf80, 0x3f80}}},
  };
}

}  // namespace

Table float_table() {
  Table table = sums();
  for (const Table& more : {fused_and_divided(), signs_and_extrema(), halves()}) add(table, more);
  return table;
}

}  // namespace softgpu::tests
