// cvt: truncation, extension, rounding, and values out of range.
#include <cmath>

#include "form_case.hpp"

namespace softgpu::tests {

namespace {

// Every pair of integer types: the low bits, extended by the source's sign.
Table integers() {
  struct Integer {
    const char *name, *reg;
    unsigned bits;
    bool is_signed;
  };
  const Integer kAll[] = {{"u8", "b16", 8, false},   {"s8", "b16", 8, true},
                          {"u16", "b16", 16, false}, {"s16", "b16", 16, true},
                          {"u32", "b32", 32, false}, {"s32", "b32", 32, true},
                          {"u64", "b64", 64, false}, {"s64", "b64", 64, true}};
  const auto read = [](std::uint64_t bits, const Integer& as) {
    const unsigned above = 64 - as.bits;
    return as.is_signed ? s(static_cast<std::int64_t>(bits << above) >> above)
                        : bits << above >> above;
  };
  Table table;
  for (const Integer& to : kAll) {
    for (const Integer& from : kAll) {
      Case c{std::string("cvt.") + to.name + "." + from.name + " $d, $a;",
             std::string(to.reg) + " : " + from.reg,
             {}};
      for (const std::uint64_t value : {0x7full, 0x80ull, 0xfedcba9876543210ull, ~0ull}) {
        c.rows.push_back({value, read(read(value, from), to)});
      }
      table.push_back(c);
    }
  }
  return table;
}

Table saturated_integers() {
  return {
      {"cvt.sat.u8.s32 $d, $a;", "b16 : b32", {{s(-1), 0}, {300, 255}, {7, 7}}},
      {"cvt.sat.s8.s32 $d, $a;", "b16 : b32", {{s(-200), s(-128)}, {300, 127}}},
      {"cvt.sat.u16.s32 $d, $a;", "b16 : b32", {{s(-1), 0}, {70000, 65535}}},
      {"cvt.sat.s16.u32 $d, $a;", "b16 : b32", {{0xffffffff, 32767}}},
      {"cvt.sat.u32.s64 $d, $a;", "b32 : b64", {{s(-1), 0}, {1ull << 40, 0xffffffff}}},
      {"cvt.sat.s32.u64 $d, $a;", "b32 : b64", {{s(-1), 0x7fffffff}, {5, 5}}},
      {"cvt.sat.u64.s64 $d, $a;", "b64 : b64", {{s(-1), 0}, {5, 5}}},
      {"cvt.sat.s64.u64 $d, $a;", "b64 : b64", {{s(-1), ~0ull >> 1}, {5, 5}}},
      {"cvt.sat.u32.s32 $d, $a;", "b32 : b32", {{s(-1), 0}}},
  };
}

Table floats_to_integers() {
  constexpr std::uint64_t kMost = 0x7fffffff, kLeast = 0x80000000;
  return {
      {"cvt.rni.s32.f32 $d, $a;",
       "b32 : f32",
       {{f(2.5f), 2},
        {f(3.5f), 4},
        {f(-2.5f), s(-2)},
        {f(3e9f), kMost},
        {f(-3e9f), kLeast},
        {kNan, 0}}},
      {"cvt.rzi.s32.f32 $d, $a;",
       "b32 : f32",
       {{f(2.9f), 2}, {f(-2.9f), s(-2)}, {kInf, kMost}, {kInf | kMinus, kLeast}, {kNan, 0}}},
      {"cvt.rmi.s32.f32 $d, $a;", "b32 : f32", {{f(2.9f), 2}, {f(-2.1f), s(-3)}}},
      {"cvt.rpi.s32.f32 $d, $a;", "b32 : f32", {{f(2.1f), 3}, {f(-2.9f), s(-2)}}},
      {"cvt.rzi.u32.f32 $d, $a;",
       "b32 : f32",
       {{f(-1), 0}, {f(5e9f), 0xffffffff}, {f(3e9f), 3000000000}, {kNan, 0}}},
      {"cvt.rzi.sat.u32.f32 $d, $a;", "b32 : f32", {{f(-1), 0}, {f(5e9f), 0xffffffff}}},
      {"cvt.rzi.u16.f32 $d, $a;", "b16 : f32", {{f(70000), 0xffff}, {f(-1), 0}, {f(7.9f), 7}}},
      {"cvt.rzi.s16.f32 $d, $a;", "b16 : f32", {{f(-70000), 0x8000}, {f(-7.9f), s(-7)}}},
      {"cvt.rzi.s64.f32 $d, $a;",
       "b64 : f32",
       {{f(-1.5f), s(-1)}, {f(1e19f), ~0ull >> 1}, {kNan, kMinus64}}},
      {"cvt.rzi.u64.f32 $d, $a;",
       "b64 : f32",
       {{f(1e19f), 9999999980506447872ull}, {f(-1), 0}, {kNan, kMinus64}}},
      {"cvt.rzi.s32.f64 $d, $a;",
       "b32 : f64",
       {{d(2.9), 2}, {d(3e9), kMost}, {d(-3e9), kLeast}, {kNan64, kLeast}}},
      {"cvt.rni.s32.f64 $d, $a;", "b32 : f64", {{d(2.5), 2}, {d(3.5), 4}}},
      {"cvt.rzi.u32.f64 $d, $a;",
       "b32 : f64",
       {{d(4e9), 4000000000}, {d(-1), 0}, {d(5e9), 0xffffffff}}},
      {"cvt.rzi.s64.f64 $d, $a;",
       "b64 : f64",
       {{d(-1e15), s(-1000000000000000)}, {d(1e19), ~0ull >> 1}, {kNan64, kMinus64}}},
      {"cvt.rzi.u64.f64 $d, $a;",
       "b64 : f64",
       {{d(1e19), 10000000000000000000ull}, {d(1e20), ~0ull}, {d(-1), 0}}},
  };
}

Table integers_to_floats() {
  return {
      {"cvt.rn.f32.s32 $d, $a;",
       "f32 : b32",
       {{s(-5), f(-5)}, {0x01000001, f(16777216)}, {0x01000003, f(16777220)}}},
      {"cvt.rn.f32.u32 $d, $a;", "f32 : b32", {{0xffffffff, f(4294967296.0f)}}},
      {"cvt.rz.f32.u32 $d, $a;", "f32 : b32", {{0xffffffff, f(4294967040.0f)}}},
      {"cvt.rp.f32.s32 $d, $a;", "f32 : b32", {{0x01000001, f(16777218)}}},
      {"cvt.rm.f32.s32 $d, $a;", "f32 : b32", {{s(-0x01000001), f(-16777218)}}},
      {"cvt.rn.f32.s64 $d, $a;", "f32 : b64", {{s(-5), f(-5)}}},
      {"cvt.rn.f32.u64 $d, $a;", "f32 : b64", {{~0ull, f(0x1p64f)}}},
      {"cvt.rn.f32.u16 $d, $a;", "f32 : b16", {{0xffff, f(65535)}}},
      {"cvt.rn.f32.s16 $d, $a;", "f32 : b16", {{0xffff, f(-1)}}},
      {"cvt.rn.f32.u8 $d, $a;", "f32 : b16", {{0xffff, f(255)}}},
      {"cvt.rn.f32.s8 $d, $a;", "f32 : b16", {{0x00ff, f(-1)}}},
      {"cvt.rn.f64.s32 $d, $a;", "f64 : b32", {{s(-5), d(-5)}}},
      {"cvt.rn.f64.u32 $d, $a;", "f64 : b32", {{0xffffffff, d(4294967295.0)}}},
      {"cvt.rn.f64.s64 $d, $a;", "f64 : b64", {{s(-5), d(-5)}, {(1ull << 53) + 1, d(0x1p53)}}},
      {"cvt.rn.f64.u64 $d, $a;", "f64 : b64", {{~0ull, d(0x1p64)}}},
      {"cvt.rn.f64.u16 $d, $a;", "f64 : b16", {{0xffff, d(65535)}}},
      {"cvt.rn.f64.s16 $d, $a;", "f64 : b16", {{0xffff, d(-1)}}},
      {"cvt.rn.f64.u8 $d, $a;", "f64 : b16", {{0x1ff, d(255)}}},
      {"cvt.rn.f64.s8 $d, $a;", "f64 : b16", {{0x80, d(-128)}}},
  };
}

Table floats() {
  const double beyond = 1 + 0x1p-25;  // less than half of the last place of float's 1
  const float up = std::nextafter(1.0f, 2.0f);
  return {
      {"cvt.f64.f32 $d, $a;", "f64 : f32", {{f(1.5f), d(1.5)}, {kNan, kNan64}, {1, d(0x1p-149)}}},
      {"cvt.rn.f32.f64 $d, $a;",
       "f32 : f64",
       {{d(beyond), f(1)}, {d(1e300), kInf}, {kNan64, kNan}}},
      {"cvt.rz.f32.f64 $d, $a;",
       "f32 : f64",
       {{d(1 + 0x1p-23 - 0x1p-40), f(1)}, {d(1e300), f(3.40282347e38f)}}},
      {"cvt.rm.f32.f64 $d, $a;", "f32 : f64", {{d(-beyond), f(-up)}, {d(beyond), f(1)}}},
      {"cvt.rp.f32.f64 $d, $a;", "f32 : f64", {{d(beyond), f(up)}, {d(-beyond), f(-1)}}},
      {"cvt.ftz.f64.f32 $d, $a;", "f64 : f32", {{1, 0}, {f(2), d(2)}}},
      {"cvt.rni.f32.f32 $d, $a;", "f32 : f32", {{f(2.5f), f(2)}, {f(-0.4f), kMinus}}},
      {"cvt.rzi.f32.f32 $d, $a;", "f32 : f32", {{f(-2.9f), f(-2)}}},
      {"cvt.rmi.f32.f32 $d, $a;", "f32 : f32", {{f(-2.1f), f(-3)}}},
      {"cvt.rpi.f32.f32 $d, $a;", "f32 : f32", {{f(2.1f), f(3)}}},
      {"cvt.rni.f64.f64 $d, $a;", "f64 : f64", {{d(3.5), d(4)}}},
      {"cvt.rzi.f64.f64 $d, $a;", "f64 : f64", {{d(-2.9), d(-2)}}},
      {"cvt.rmi.f64.f64 $d, $a;", "f64 : f64", {{d(-2.1), d(-3)}}},
      {"cvt.rpi.f64.f64 $d, $a;", "f64 : f64", {{d(2.1), d(3)}}},
      {"cvt.sat.f32.f32 $d, $a;",
       "b32 : f32",
       {{f(2), f(1)}, {f(-2), 0}, {kNan, 0}, {f(0.5f), f(0.5f)}}},
      {"cvt.rn.f16.f32 $d, $a;",
       "b16 : f32",
       {{f(1), 0x3c00},
        {f(65520), 0x7c00},
        {f(1 + 0x1p-11f), 0x3c00},
        {f(1 + 3 * 0x1p-11f), 0x3c02},
        {f(0x1p-24f), 1}}},
      {"cvt.f32.f16 $d, $a;",
       "f32 : b16",
       {{0x3c00, f(1)}, {1, f(0x1p-24f)}, {0xfc00, kInf | kMinus}, {0x7e00, kNan}}},
      {"cvt.rn.bf16.f32 $d, $a;",
       "b16 : f32",
       {{f(1), 0x3f80}, {f(1 + 0x1p-8f), 0x3f80}, {f(1 + 3 * 0x1p-8f), 0x3f82}}},
      {"cvt.f32.bf16 $d, $a;", "f32 : b16", {{0x3f80, f(1)}, {0xff80, kInf | kMinus}}},
  };
}

}  // namespace

Table convert_table() {
  Table table = integers();
  for (const Table& more :
       {saturated_integers(), floats_to_integers(), integers_to_floats(), floats()}) {
    add(table, more);
  }
  return table;
}

}  // namespace softgpu::tests
