// Finds the family that translates an instruction.
#pragma once

#include <string_view>
#include <unordered_map>

#include "softgpu/ptx/emit/emitter.hpp"

namespace softgpu::ptx {

using Emit = void (*)(Emitter&);

struct Instructions {
  std::unordered_map<std::string_view, Emit> of_any_type;
  std::unordered_map<std::string_view, Emit> of_floats;  // where both have the same name
};

void add_data(Instructions& all);
void add_integer(Instructions& all);
void add_float(Instructions& all);
void add_convert(Instructions& all);
void add_logic(Instructions& all);
void add_memory(Instructions& all);
void add_atomics(Instructions& all);
void add_fences(Instructions& all);
void add_control(Instructions& all);
void add_meetings(Instructions& all);
void add_async(Instructions& all);
void add_multimem(Instructions& all);

// Null: no family has it.
Emit find_instruction(std::string_view opcode, Type last_type);

// A special register ("%tid.x"); without an expression: there is none.
struct SpecialRegister {
  std::string_view type, expression;
};
SpecialRegister special_register(std::string_view name);

// ---- Orders and scopes, shared by the families that have them ----

std::string order_in_cpp(std::string_view word);  // "relaxed" is Order::kRelaxed
std::string take_scope(Emitter& e, std::string_view otherwise);

}  // namespace softgpu::ptx
