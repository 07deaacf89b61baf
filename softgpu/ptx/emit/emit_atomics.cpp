// atom and red: one instruction that reads and writes.
#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

// The types that an operation has.
bool has_type(std::string_view operation, Type type) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    for (std::string_view name : names) {
      if (type.name == name) return true;
    }
    return false;
  };
  if (operation == "add") {
    return is_one_of({"u32", "s32", "u64", "s64", "f32", "f64", "f16", "bf16"});
  }
  if (operation == "min" || operation == "max") return is_one_of({"u32", "s32", "u64", "s64"});
  if (operation == "inc" || operation == "dec") return type.name == "u32";
  if (operation == "cas") return is_one_of({"b16", "b32", "b64"});
  return is_one_of({"b32", "b64"});  // exch, and, or, xor
}

std::string in_cpp(std::string_view operation) {
  std::string name(operation);
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return "Atom::k" + name;
}

struct Atomic {
  std::string order, scope;
  std::string_view space, operation;
  Type type;
};

Atomic take_atomic(Emitter& e) {
  Atomic a;
  a.order = order_in_cpp(e.take_one_of({"relaxed", "acquire", "release", "acq_rel"}));
  a.scope = take_scope(e, "gpu");
  a.space = e.take_one_of({"global", "shared"});
  if (e.take("shared::cta")) a.space = "shared";
  a.operation =
      e.take_one_of({"add", "exch", "min", "max", "and", "or", "xor", "inc", "dec", "cas"});
  if (a.operation.empty()) e.fail("softgpu does not know this atomic operation");
  a.type = e.take_type();
  if (a.type.is_half()) e.take("noftz");
  if (!has_type(a.operation, a.type)) e.fail("the operation has no such type");
  return a;
}

// The call, with its value or values from operand `first` on.
std::string call_of(Emitter& e, const Atomic& a, std::size_t address, std::size_t first) {
  const std::string function(e.opcode());
  const std::string type = a.type.cpp(), where = e.address(address, a.space, a.type.bytes);
  const std::string how = a.order + ", " + a.scope + ", " + type + ">(e, " + where + ", ";
  if (a.operation == "cas") {
    return "compare_and_swap<" + how + e.in(first, a.type) + ", " + e.in(first + 1, a.type) + ")";
  }
  return function + "<" + in_cpp(a.operation) + ", " + how + e.in(first, a.type) + ")";
}

void emit_atom(Emitter& e) {
  const Atomic a = take_atomic(e);
  e.out(0, a.type, call_of(e, a, 1, 2));
}

void emit_red(Emitter& e) {
  const Atomic a = take_atomic(e);
  if (a.operation == "cas" || a.operation == "exch") e.fail("red has no such operation");
  if (a.order == "Order::kAcquire" || a.order == "Order::kAcqRel") e.fail("red reads nothing");
  e.line(call_of(e, a, 0, 1) + ";");
}

}  // namespace

void add_atomics(Instructions& all) {
  all.of_any_type["atom"] = emit_atom;
  all.of_any_type["red"] = emit_red;
}

}  // namespace softgpu::ptx
