// Bits and predicates: and, or, xor, not, comparisons and choices.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

void emit_bitwise(Emitter& e) {
  const std::string sign = e.opcode() == "and" ? " & " : e.opcode() == "or" ? " | " : " ^ ";
  const Type type = e.take_type();
  if (!type.is_bits() && !type.is_predicate()) e.fail("a type of bits is wanted");
  e.out(0, type, e.in(1, type) + sign + e.in(2, type));
}
void emit_not(Emitter& e) {
  const Type type = e.take_type();
  if (!type.is_bits() && !type.is_predicate()) e.fail("a type of bits is wanted");
  e.out(0, type, (type.is_predicate() ? "!" : "~") + e.in(1, type));
}
void emit_cnot(Emitter& e) {
  const Type type = e.take_type();
  if (!type.is_bits()) e.fail("a type of bits is wanted");
  e.out(0, type, e.in(1, type) + " == 0 ? 1 : 0");
}

// ---- Comparisons ----

// Each is false if an operand is NaN; the u forms are then true.
std::string compare_floats(Emitter& e, const std::string& a, const std::string& b) {
  const std::string_view word = e.take_one_of(
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  const auto is = [&](const char* sign) { return "(" + a + " " + sign + " " + b + ")"; };
  if (word == "eq") return is("==");
  if (word == "ne") return "(" + is("<") + " | " + is(">") + ")";
  if (word == "lt") return is("<");
  if (word == "le") return is("<=");
  if (word == "gt") return is(">");
  if (word == "ge") return is(">=");
  if (word == "equ") return "!(" + is("<") + " | " + is(">") + ")";
  if (word == "neu") return is("!=");
  if (word == "ltu") return "!" + is(">=");
  if (word == "leu") return "!" + is(">");
  if (word == "gtu") return "!" + is("<=");
  if (word == "geu") return "!" + is("<");
  const std::string are_numbers = "((" + a + " == " + a + ") & (" + b + " == " + b + "))";
  if (word == "num") return are_numbers;
  if (word == "nan") return "!" + are_numbers;
  e.fail("softgpu does not know this comparison of floats");
}

std::string compare_integers(Emitter& e, Type type, const std::string& a, const std::string& b) {
  const auto is = [&](const char* sign) { return "(" + a + " " + sign + " " + b + ")"; };
  if (e.take("eq")) return is("==");
  if (e.take("ne")) return is("!=");
  if (type.is_bits()) e.fail("bits are equal or not");
  if (e.take("lt")) return is("<");
  if (e.take("le")) return is("<=");
  if (e.take("gt")) return is(">");
  if (e.take("ge")) return is(">=");
  if (!type.is_signed()) {
    if (e.take("lo")) return is("<");
    if (e.take("ls")) return is("<=");
    if (e.take("hi")) return is(">");
    if (e.take("hs")) return is(">=");
  }
  e.fail("softgpu does not know this comparison of integers");
}

std::string compare(Emitter& e, Type type) {
  const bool flushes = e.take("ftz");
  std::string a = e.in(1, type), b = e.in(2, type);
  if (!type.is_float()) {
    if (flushes) e.fail(".ftz is of f32");
    return compare_integers(e, type, a, b);
  }
  if (type.is_half()) a = "f32(" + a + ")", b = "f32(" + b + ")";
  if (flushes) {
    if (type.name != "f32") e.fail(".ftz is of f32");
    a = "flushed(" + a + ")", b = "flushed(" + b + ")";
  }
  return compare_floats(e, a, b);
}

// Combines a comparison with predicate operand 3, if a word says how.
std::string take_combination(Emitter& e) {
  if (e.take("and")) return " & " + e.predicate(3);
  if (e.take("or")) return " | " + e.predicate(3);
  return e.take("xor") ? " ^ " + e.predicate(3) : "";
}

// p|q: q gets the negated comparison, combined likewise.
void emit_setp(Emitter& e) {
  const Type type = e.take_type(), predicate = type_of(kPredicate);
  if (type.is_predicate()) e.fail("a number's type is wanted");
  const std::string comparison = compare(e, type), combined = take_combination(e);
  const Operand& results = e.operand(0);
  Operand first = results;
  first.beside.clear();
  if (results.beside.empty()) return e.assign(first, predicate, comparison + combined);
  e.line("{ const bool first = " + comparison + combined + ";");
  e.line("const bool second = !" + comparison + combined + ";");
  e.assign(first, predicate, "first");
  e.assign(results.beside.front(), predicate, "second");
  e.line("}");
}

void emit_set(Emitter& e) {
  const Type from = e.take_type(), to = e.take_type();
  if (from.is_predicate() || to.bytes != 4 || to.is_bits()) e.fail("u32, s32 or f32 is wanted");
  const std::string condition = compare(e, from) + take_combination(e);
  e.out(0, to, "(" + condition + ") ? " + (to.is_float() ? "1.0f : 0.0f" : "~0u : 0u"));
}

// ---- Choices ----

void emit_selp(Emitter& e) {
  const Type type = e.take_type();
  if (type.is_predicate()) e.fail("predicates are not chosen among");
  const Type bits = unsigned_of(type.bytes);
  e.out(0, bits, e.predicate(3) + " ? " + e.in(1, bits) + " : " + e.in(2, bits));
}
void emit_slct(Emitter& e) {
  const bool flushes = e.take("ftz");
  const Type by = e.take_type(), bits = unsigned_of(e.take_type().bytes);
  if (by.name != "s32" && by.name != "f32") e.fail("s32 or f32 chooses");
  std::string c = e.in(3, by);
  if (flushes) c = "flushed(" + c + ")";
  e.out(0, bits, c + " >= 0 ? " + e.in(1, bits) + " : " + e.in(2, bits));
}

}  // namespace

void add_logic(Instructions& all) {
  auto& table = all.of_any_type;
  table["and"] = table["or"] = table["xor"] = emit_bitwise;
  table["not"] = emit_not;
  table["cnot"] = emit_cnot;
  table["setp"] = emit_setp;
  table["set"] = emit_set;
  table["selp"] = emit_selp;
  table["slct"] = emit_slct;
}

}  // namespace softgpu::ptx
