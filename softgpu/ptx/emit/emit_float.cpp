// Floating point arithmetic.
#include "softgpu/ptx/instructions.hpp"
#include "softgpu/ptx/rounding.hpp"

namespace softgpu::ptx {

namespace {

// The modifiers of an operation: how it rounds, and what happens to its operands and result.
struct Style {
  std::string rounding;
  bool flushes = false, saturates = false;
  Type type;
};
Style take_style(Emitter& e) {
  Style style;
  style.rounding = take_rounding(e);
  style.flushes = e.take("ftz");
  style.saturates = e.take("sat");
  style.type = e.take_type();
  if (style.flushes && style.type.name != "f32") e.fail(".ftz is of f32");
  if (style.saturates && style.type.name == "f64") e.fail(".sat is not of f64");
  return style;
}

std::string operand(Emitter& e, const Style& style, std::size_t index) {
  const std::string value = e.in(index, style.type);
  return style.flushes ? "flushed(" + value + ")" : value;
}

// 16-bit floats are computed in float.
void result(Emitter& e, const Style& style, std::string expression) {
  if (style.flushes) expression = "flushed(" + expression + ")";
  if (style.saturates) expression = "unit_range(" + expression + ")";
  e.out(0, style.type, expression);
}

// `operation(x, y, ...)`, for an operation that writes its values as it likes.
template <class Operation>
void compute(Emitter& e, const Style& style, std::size_t operands, Operation operation) {
  std::vector<std::string> values;
  const bool is_directed = !style.rounding.empty() && style.rounding != "Round::kNearest";
  for (std::size_t i = 1; i <= operands; ++i) {
    std::string value = operand(e, style, i);
    if (style.type.is_half()) value = "f32(" + value + ")";
    values.push_back(is_directed ? "opaque(" + value + ")" : value);
  }
  const std::string expression = operation(values);
  if (!is_directed) return result(e, style, expression);
  if (style.type.is_half()) e.fail("16-bit floats are rounded to nearest alone");
  result(e, style,
         "rounded<" + style.rounding + ", " + style.type.cpp() + ">([&] { return " +
             style.type.cpp() + "(" + expression + "); })");
}

void emit_sum_or_product(Emitter& e) {
  const std::string sign = e.opcode() == "add" ? " + " : e.opcode() == "sub" ? " - " : " * ";
  compute(e, take_style(e), 2, [&](const auto& v) { return v[0] + sign + v[1]; });
}

// mad is fma: neither rounds in between.
void emit_fma(Emitter& e) {
  const Style style = take_style(e);
  if (style.type.is_half()) e.fail("softgpu has no fma of 16-bit floats");
  if (style.rounding.empty()) e.fail("a rounding is wanted");
  compute(e, style, 3,
          [](const auto& v) { return "libm::fma(" + v[0] + ", " + v[1] + ", " + v[2] + ")"; });
}

// .full and .approx exist for f32 (the approximations of f64 round as no processor here does). They
// may be exact where PTX gives a bound.
void emit_div(Emitter& e) {
  const std::string_view approximation = e.take_one_of({"approx", "full"});
  const Style style = take_style(e);
  if (style.type.is_half() || approximation.empty() == style.rounding.empty()) {
    e.fail("a rounding, .approx or .full is wanted");
  }
  if (style.saturates) e.fail("a quotient has no .sat");
  if (!approximation.empty() && style.type.name != "f32")
    e.fail("." + std::string(approximation) + " is of f32");
  compute(e, style, 2, [&](const auto& v) {
    return approximation == "approx" ? "approximate_quotient(" + v[0] + ", " + v[1] + ")"
                                     : v[0] + " / " + v[1];
  });
}

// Functions of one operand.
void emit_function(Emitter& e) {
  const std::string_view name = e.opcode();
  const bool is_approximate = e.take("approx");
  const Style style = take_style(e);
  if (style.type.is_half()) e.fail("not of 16-bit floats");
  const bool rounds = name == "rcp" || name == "sqrt";
  if (is_approximate == !style.rounding.empty() || (!is_approximate && !rounds)) {
    e.fail(rounds ? "a rounding or .approx is wanted" : ".approx is wanted");
  }
  if (is_approximate && style.type.name != "f32") e.fail("softgpu has .approx of f32 alone");
  if (style.saturates || (style.flushes && name == "tanh")) e.fail("the function has no such form");
  compute(e, style, 1, [&](const auto& v) -> std::string {
    if (name == "rcp") return "1 / " + v[0];
    if (name == "rsqrt") return "1 / libm::sqrt(" + v[0] + ")";
    const std::string function = name == "ex2"   ? "exp2"
                                 : name == "lg2" ? "log2"
                                                 : std::string(name);
    return "libm::" + function + "(" + v[0] + ")";
  });
}

void emit_extremum(Emitter& e) {
  const std::string function = std::string(e.opcode()) + (e.take("NaN") ? "_nan" : "");
  const Style style = take_style(e);
  if (style.type.is_half() || style.saturates || !style.rounding.empty()) {
    e.fail("of f32 and f64 alone, and nothing is rounded");
  }
  compute(e, style, 2, [&](const auto& v) { return function + "(" + v[0] + ", " + v[1] + ")"; });
}

// Changes only the sign bit, also of a NaN.
void emit_sign(Emitter& e) {
  const bool is_neg = e.opcode() == "neg";
  const bool flushes = e.take("ftz");
  const Type type = e.take_type();
  if (type.is_half()) {
    if (flushes) e.fail(".ftz is of f32");
    const Type bits = unsigned_of(2);
    return e.out(0, bits, e.in(1, bits) + (is_neg ? " ^ 0x8000" : " & 0x7fff"));
  }
  std::string value = e.in(1, type);
  if (flushes) {
    if (type.name != "f32") e.fail(".ftz is of f32");
    value = "flushed(" + value + ")";
  }
  e.out(0, type, is_neg ? "-" + value : "libm::fabs(" + value + ")");
}

// b with the sign of a.
void emit_copysign(Emitter& e) {
  const Type type = e.take_type();
  if (type.is_half()) e.fail("of f32 and f64 alone");
  e.out(0, type, "libm::copysign(" + e.in(2, type) + ", " + e.in(1, type) + ")");
}

void emit_testp(Emitter& e) {
  const std::string_view property =
      e.take_one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const Type type = e.take_type();
  if (property.empty() || type.is_half()) e.fail("a property of f32 or f64 is wanted");
  const std::string v = e.in(1, type);
  e.out(0, type_of(kPredicate),
        property == "finite"       ? "libm::is_finite(" + v + ")"
        : property == "infinite"   ? "libm::is_infinite(" + v + ")"
        : property == "number"     ? "!libm::is_nan(" + v + ")"
        : property == "notanumber" ? "libm::is_nan(" + v + ")"
        : property == "normal"     ? "libm::is_normal(" + v + ")"
                                   : "libm::is_subnormal(" + v + ")");
}

}  // namespace

void add_float(Instructions& all) {
  auto& table = all.of_floats;
  table["add"] = table["sub"] = table["mul"] = emit_sum_or_product;
  table["fma"] = table["mad"] = emit_fma;
  table["div"] = emit_div;
  for (const char* name : {"rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh"}) {
    table[name] = emit_function;
  }
  table["min"] = table["max"] = emit_extremum;
  table["neg"] = table["abs"] = emit_sign;
  table["copysign"] = emit_copysign;
  table["testp"] = emit_testp;
}

}  // namespace softgpu::ptx
