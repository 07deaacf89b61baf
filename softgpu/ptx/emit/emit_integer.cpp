// Integer arithmetic. Sums and products wrap, as unsigned words do.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

Type integer_type(Emitter& e) {
  const Type type = e.take_type();
  if (type.kind() != 'u' && type.kind() != 's') e.fail("an integer type is wanted");
  return type;
}
// Types that count as bits: b32, and u32 where it is written so.
Type bits_type(Emitter& e) {
  const Type type = e.take_type();
  if (type.is_float() || type.is_predicate()) e.fail("a type of bits is wanted");
  return type;
}

// `function(a, b, ...)` of that many operands of one type.
void call_of(Emitter& e, const std::string& function, Type type, std::size_t operands,
             Type result) {
  std::string arguments;
  for (std::size_t i = 1; i <= operands; ++i) {
    arguments += (i > 1 ? ", " : "") + e.in(i, type);
  }
  e.out(0, result, function + "<" + type.cpp() + ">(" + arguments + ")");
}

// ---- Pairs of 16 bits in a register ----

std::string_view take_pair(Emitter& e) { return e.take_one_of({"u16x2", "s16x2"}); }

// `function` of each half.
void emit_pair(Emitter& e, const std::string& function, std::string_view pair) {
  const std::string half(pair.substr(0, pair.size() - 2));
  e.out(0, unsigned_of(4), function + "<" + half + ">(" + e.word(1) + ", " + e.word(2) + ")");
}

// ---- Sums ----

void emit_sum(Emitter& e) {
  const std::string_view pair = e.opcode() == "add" ? take_pair(e) : "";
  if (!pair.empty()) return emit_pair(e, "add_pairs", pair);
  const std::string sign = e.opcode() == "add" ? " + " : " - ";
  const bool saturates = e.take("sat"), sets_carry = e.take("cc");
  const Type type = integer_type(e), word = unsigned_of(type.bytes);
  if (saturates) {
    if (type.name != "s32") e.fail(".sat is of s32");
    return e.out(
        0, type,
        "saturated<s32>(s64(" + e.in(1, type) + ")" + sign + "s64(" + e.in(2, type) + "))");
  }
  if (sets_carry) {
    const std::string function = e.opcode() == "add" ? "add_carry<" : "sub_borrow<";
    return e.out(
        0, word,
        function + word.cpp() + ">(" + e.in(1, word) + ", " + e.in(2, word) + ", false, &carry)");
  }
  e.out(0, word, e.in(1, word) + sign + e.in(2, word));
}

void emit_sum_with_carry(Emitter& e) {
  const bool sets_carry = e.take("cc");
  const Type word = unsigned_of(integer_type(e).bytes);
  const std::string function = e.opcode() == "addc" ? "add_carry<" : "sub_borrow<";
  e.line("{ bool next;");
  e.out(0, word,
        function + word.cpp() + ">(" + e.in(1, word) + ", " + e.in(2, word) + ", carry, &next)");
  e.line(sets_carry ? "carry = next; }" : "}");
}

// ---- Products ----

// a * b, or a * b + c, by .lo, .hi or .wide.
void emit_product(Emitter& e) {
  const bool adds = e.opcode() == "mad";
  const std::string_view part = e.take_one_of({"lo", "hi", "wide"});
  if (part.empty()) e.fail(".lo, .hi or .wide is wanted");
  const Type type = integer_type(e);
  const std::string a = e.in(1, type), b = e.in(2, type);
  if (part == "wide") {
    if (type.bytes == 8) e.fail(".wide is of 16 and 32 bits");
    const Type wide = type_of(type.is_signed()  ? type.bytes == 2 ? "s32" : "s64"
                              : type.bytes == 2 ? "u32"
                                                : "u64");
    const std::string product = wide.cpp() + "(" + a + ") * " + wide.cpp() + "(" + b + ")";
    return e.out(0, wide, adds ? product + " + " + e.in(3, wide) : product);
  }
  const Type word = unsigned_of(type.bytes);
  const std::string at_least_u32 = type.bytes == 8 ? "u64" : "u32";
  const std::string product =
      part == "hi" ? word.cpp() + "(mul_hi<" + type.cpp() + ">(" + a + ", " + b + "))"
                   : at_least_u32 + "(" + a + ") * " + at_least_u32 + "(" + b + ")";
  e.out(0, word, adds ? product + " + " + e.in(3, word) : product);
}

void emit_product24(Emitter& e) {
  const bool adds = e.opcode() == "mad24", is_high = e.take("hi");
  if (!is_high && !e.take("lo")) e.fail(".lo or .hi is wanted");
  const Type type = integer_type(e), word = unsigned_of(4);
  if (type.bytes != 4) e.fail("of 32 bits alone");
  const std::string product = "u32(mul24<" + type.cpp() + ">(" + e.in(1, type) + ", " +
                              e.in(2, type) + ")" + (is_high ? " >> 16)" : ")");
  e.out(0, word, adds ? product + " + " + e.in(3, word) : product);
}

void emit_quotient(Emitter& e) {
  const std::string function(e.opcode());
  const Type type = integer_type(e);
  call_of(e, function, type, 2, type);
}

// ---- One operand ----

void emit_neg(Emitter& e) {
  const Type word = unsigned_of(integer_type(e).bytes);
  e.out(0, word, "0 - " + e.in(1, word));
}
void emit_abs(Emitter& e) {
  const Type type = integer_type(e);
  if (!type.is_signed()) e.fail("of signed types alone");
  call_of(e, "abs", type, 1, type);
}

void emit_extremum(Emitter& e) {
  if (const std::string_view pair = take_pair(e); !pair.empty())
    return emit_pair(e, std::string(e.opcode()) + "_pairs", pair);
  const std::string less = e.opcode() == "min" ? " < " : " > ";
  const Type type = integer_type(e);
  const std::string a = e.in(1, type), b = e.in(2, type);
  e.out(0, type, a + less + b + " ? " + a + " : " + b);
}
void emit_sad(Emitter& e) {
  const Type type = integer_type(e);
  call_of(e, "sad", type, 3, type);
}

// ---- Bits ----

void emit_shift(Emitter& e) {
  const std::string function(e.opcode());
  const Type type = bits_type(e);
  e.out(0, type, function + "<" + type.cpp() + ">(" + e.in(1, type) + ", " + e.word(2) + ")");
}
void emit_funnel(Emitter& e) {
  const bool is_left = e.take("l");
  if (!is_left && !e.take("r")) e.fail(".l or .r is wanted");
  const bool wraps = e.take("wrap");
  if (!wraps && !e.take("clamp")) e.fail(".wrap or .clamp is wanted");
  const Type type = bits_type(e);
  if (type.bytes != 4) e.fail("of 32 bits alone");
  const std::string c = e.word(3);
  const std::string by = wraps ? "(" + c + " & 31)" : "(" + c + " > 32 ? 32u : " + c + ")";
  e.out(0, type,
        std::string(is_left ? "funnel_left(" : "funnel_right(") + e.word(1) + ", " + e.word(2) +
            ", " + by + ")");
}
void emit_bfe(Emitter& e) {
  const Type type = integer_type(e);
  e.out(0, type,
        "bfe<" + type.cpp() + ">(" + e.in(1, type) + ", " + e.word(2) + ", " + e.word(3) + ")");
}
void emit_bfi(Emitter& e) {
  const Type type = bits_type(e);
  e.out(0, type,
        "bfi<" + type.cpp() + ">(" + e.in(1, type) + ", " + e.in(2, type) + ", " + e.word(3) +
            ", " + e.word(4) + ")");
}
void emit_bfind(Emitter& e) {
  const std::string function = e.take("shiftamt") ? "bfind_shift" : "bfind";
  call_of(e, function, integer_type(e), 1, unsigned_of(4));
}
void emit_brev(Emitter& e) {
  const Type type = bits_type(e);
  call_of(e, "brev", type, 1, type);
}
void emit_popc(Emitter& e) {
  const Type type = bits_type(e);
  e.out(0, unsigned_of(4), "popc(" + e.in(1, type) + ")");
}
void emit_clz(Emitter& e) { call_of(e, "clz", bits_type(e), 1, unsigned_of(4)); }

void emit_prmt(Emitter& e) {
  const std::string mode(e.take_one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}));
  const Type type = bits_type(e);
  if (type.bytes != 4) e.fail("of 32 bits alone");
  const std::string bytes = e.word(1) + ", " + e.word(2) + ", ";
  e.out(0, type,
        mode.empty() ? "prmt(" + bytes + e.word(3) + ")"
                     : "prmt_of(" + bytes + "kPrmt_" + mode + ", " + e.word(3) + ")");
}
void emit_lop3(Emitter& e) {
  const Type type = bits_type(e);
  if (type.bytes != 4) e.fail("of 32 bits alone");
  e.out(0, type,
        "lop3(" + e.word(1) + ", " + e.word(2) + ", " + e.word(3) + ", " + e.word(4) + ")");
}

}  // namespace

void add_integer(Instructions& all) {
  auto& table = all.of_any_type;
  table["add"] = table["sub"] = emit_sum;
  table["addc"] = table["subc"] = emit_sum_with_carry;
  table["mul"] = table["mad"] = emit_product;
  table["mul24"] = table["mad24"] = emit_product24;
  table["div"] = table["rem"] = emit_quotient;
  table["neg"] = emit_neg;
  table["abs"] = emit_abs;
  table["min"] = table["max"] = emit_extremum;
  table["sad"] = emit_sad;
  table["shl"] = table["shr"] = emit_shift;
  table["shf"] = emit_funnel;
  table["bfe"] = emit_bfe;
  table["bfi"] = emit_bfi;
  table["bfind"] = emit_bfind;
  table["brev"] = emit_brev;
  table["popc"] = emit_popc;
  table["clz"] = emit_clz;
  table["prmt"] = emit_prmt;
  table["lop3"] = emit_lop3;
}

}  // namespace softgpu::ptx
