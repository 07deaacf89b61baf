// multimem: loads, stores and updates of all devices at a multicast address, of integers and bits;
// stores also of vectors of f32.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

// Weak and relaxed are one: the executor makes each access as one of system scope.
std::string take_order(Emitter& e, std::string_view strongest) {
  const std::string order = order_in_cpp(e.take_one_of({"weak", "relaxed", strongest}));
  take_scope(e, "sys");
  e.take("global");
  return order;
}

bool is_one_of(Type type, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    if (type.name == name) return true;
  }
  return false;
}

bool has_type(std::string_view operation, Type type) {
  if (operation == "add") return is_one_of(type, {"u32", "s32", "u64"});
  if (operation == "min" || operation == "max") {
    return is_one_of(type, {"u32", "s32", "u64", "s64"});
  }
  return is_one_of(type, {"b32", "b64"});
}

// "Atom::kAdd", and the type, of ld_reduce and red.
std::string take_operation(Emitter& e, Type& type) {
  const std::string_view word = e.take_one_of({"add", "min", "max", "and", "or", "xor"});
  if (word.empty()) e.fail("softgpu does not know this operation of multimem");
  type = e.take_type();
  if (!has_type(word, type)) e.fail("softgpu knows multimem of integers and bits");
  std::string name(word);
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return "Atom::k" + name;
}

void emit_multimem_ld_reduce(Emitter& e) {
  const std::string order = take_order(e, "acquire");
  Type type;
  const std::string operation = take_operation(e, type);
  e.out(0, type,
        "multimem_ld_reduce<" + operation + ", " + order + ", " + type.cpp() + ">(e, " +
            e.address(1, "global", type.bytes) + ")");
}

void emit_multimem_red(Emitter& e) {
  const std::string order = take_order(e, "release");
  Type type;
  const std::string operation = take_operation(e, type);
  e.line("multimem_red<" + operation + ", " + order + ", " + type.cpp() + ">(e, " +
         e.address(0, "global", type.bytes) + ", " + e.in(1, type) + ");");
}

// The lanes of a vector are separate accesses.
void emit_multimem_st(Emitter& e) {
  const std::string order = take_order(e, "release");
  const std::size_t lanes = e.take("v2") ? 2 : e.take("v4") ? 4 : 1;
  const Type type = e.take_type();
  if (!is_one_of(type, {"b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64"})) {
    e.fail("softgpu knows multimem stores of 4 and 8 bytes");
  }
  if (lanes > 1 && !type.is_float()) e.fail("vectors of multimem are floating-point ones");
  e.line("{ const u64 address = " + e.address(0, "global", lanes * type.bytes) + ";");
  const Operand& value = e.operand(1);
  if (lanes > 1 && value.parts.size() != lanes) {
    e.fail("as many registers as the vector has are wanted");
  }
  for (std::size_t i = 0; i < lanes; ++i) {
    // Bits, as f32 in a register of the host might not keep those of a NaN.
    const std::string word = "u" + std::to_string(type.bits());
    e.line("multimem_st<" + order + ", " + word + ">(e, address + " +
           std::to_string(i * type.bytes) + ", std::bit_cast<" + word + ">(" +
           e.value(lanes > 1 ? value.parts[i] : value, type) + "));");
  }
  e.line("}");
}

void emit_multimem(Emitter& e) {
  if (e.take("ld_reduce")) return emit_multimem_ld_reduce(e);
  if (e.take("st")) return emit_multimem_st(e);
  if (e.take("red")) return emit_multimem_red(e);
  e.fail("softgpu does not know this operation of multimem");
}

}  // namespace

void add_multimem(Instructions& all) { all.of_any_type["multimem"] = emit_multimem; }

}  // namespace softgpu::ptx
