// cvt: between integers and floats of all sizes.
#include "softgpu/ptx/instructions.hpp"
#include "softgpu/ptx/rounding.hpp"

namespace softgpu::ptx {

namespace {

struct Conversion {
  Type to, from;
  std::string rounding, integral;  // to a float's precision; to an integral value
  bool flushes, saturates;
};

constexpr auto kWider = Emitter::Width::kWider;

// No integer has more than 64 bits. So an s64 holds every narrower value; u64 saturates separately.
void integer_to_integer(Emitter& e, const Conversion& c) {
  if (!c.rounding.empty() || !c.integral.empty() || c.flushes) e.fail("integers are not rounded");
  const std::string value = e.in(1, c.from, kWider);
  if (!c.saturates) return e.out(0, c.to, c.to.cpp() + "(" + value + ")", kWider);
  const bool from_u64 = c.from.name == "u64";
  if (c.to.bytes == 8) {
    // The two ranges differ only by sign, or not at all.
    if (c.to.is_signed() == c.from.is_signed()) return e.out(0, c.to, value, kWider);
    const std::string limit =
        c.to.is_signed()
            ? (from_u64 ? "(" + value + " > u64(~0ull >> 1) ? u64(~0ull >> 1) : " + value + ")"
                        : value)
            : "(" + value + " < 0 ? 0 : " + value + ")";
    return e.out(0, c.to, limit, kWider);
  }
  const std::string as_s64 =
      from_u64 ? "s64(" + value + " > u64(~0ull >> 1) ? u64(~0ull >> 1) : " + value + ")"
               : "s64(" + value + ")";
  e.out(0, c.to, "saturated<" + c.to.cpp() + ">(" + as_s64 + ")", kWider);
}

std::string float_operand(Emitter& e, const Conversion& c) {
  std::string value = e.in(1, c.from, kWider);
  if (c.from.is_half()) value = "f32(" + value + ")";
  if (!c.flushes) return value;
  if (c.from.name != "f32" && c.to.name != "f32") e.fail(".ftz is of f32");
  return c.from.name == "f32" ? "flushed(" + value + ")" : value;
}

// A value out of range becomes the nearest in it, with or without .sat.
void float_to_integer(Emitter& e, const Conversion& c) {
  if (c.integral.empty() || !c.rounding.empty()) e.fail("a rounding to an integer is wanted");
  const std::string value = float_operand(e, c);
  const std::string from = c.from.is_half() ? "f32" : c.from.cpp();
  e.out(0, c.to, "to_integer<" + c.to.cpp() + ", " + c.integral + ", " + from + ">(" + value + ")",
        kWider);
}

void finish_float(Emitter& e, const Conversion& c, std::string value) {
  if (c.flushes && c.to.name == "f32") value = "flushed(" + value + ")";
  if (c.saturates) value = "unit_range(" + value + ")";
  e.out(0, c.to, value, kWider);
}

void integer_to_float(Emitter& e, const Conversion& c) {
  if (c.rounding.empty() || !c.integral.empty() || c.flushes) e.fail("a rounding is wanted");
  if (c.to.is_half()) e.fail("softgpu converts no integers to 16-bit floats");
  finish_float(e, c,
               "to_float<" + c.to.cpp() + ", " + c.rounding + ">(" + e.in(1, c.from, kWider) + ")");
}

void float_to_float(Emitter& e, const Conversion& c) {
  const std::string value = float_operand(e, c);
  if (c.to.bytes == c.from.bytes) {
    if (c.to.name != c.from.name || !c.rounding.empty() || c.to.is_half()) {
      e.fail("a rounding to an integer is wanted, of f32 or f64");
    }
    if (c.integral.empty()) return finish_float(e, c, value);
    return finish_float(e, c, "to_integral<" + c.integral + ">(" + value + ")");
  }
  if (!c.integral.empty()) e.fail("only one type is rounded to an integer");
  if (c.to.bytes > c.from.bytes) {
    if (!c.rounding.empty()) e.fail("a wider type is not rounded to");
    return finish_float(e, c, c.to.cpp() + "(" + value + ")");
  }
  if (c.rounding.empty()) e.fail("a rounding is wanted");
  if (c.to.is_half()) {
    if (c.from.name != "f32" || c.rounding != "Round::kNearest" || c.saturates) {
      e.fail("softgpu makes 16-bit floats of f32, rounded to nearest");
    }
    return e.out(0, c.to, value, kWider);
  }
  finish_float(e, c, "to_float<" + c.to.cpp() + ", " + c.rounding + ">(" + value + ")");
}

void emit_cvt(Emitter& e) {
  Conversion c{{}, {}, take_rounding(e), take_integral_rounding(e), e.take("ftz"), e.take("sat")};
  c.from = e.take_type();
  c.to = e.take_type();
  if (c.from.is_bits() || c.to.is_bits() || c.from.is_predicate() || c.to.is_predicate()) {
    e.fail("bits are not converted");
  }
  if (c.to.is_float()) return c.from.is_float() ? float_to_float(e, c) : integer_to_float(e, c);
  return c.from.is_float() ? float_to_integer(e, c) : integer_to_integer(e, c);
}

}  // namespace

void add_convert(Instructions& all) { all.of_any_type["cvt"] = emit_cvt; }

}  // namespace softgpu::ptx
