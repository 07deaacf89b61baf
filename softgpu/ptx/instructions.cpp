#include "softgpu/ptx/instructions.hpp"

namespace softgpu::ptx {

namespace {

Instructions all_instructions() {
  Instructions all;
  for (const auto add :
       {add_data, add_integer, add_float, add_convert, add_logic, add_memory, add_atomics,
        add_fences, add_control, add_meetings, add_async, add_multimem}) {
    add(all);
  }
  return all;
}

}  // namespace

Emit find_instruction(std::string_view opcode, Type last_type) {
  static const Instructions& all = *new Instructions(all_instructions());
  if (last_type.is_float()) {
    const auto found = all.of_floats.find(opcode);
    if (found != all.of_floats.end()) return found->second;
  }
  const auto found = all.of_any_type.find(opcode);
  return found == all.of_any_type.end() ? nullptr : found->second;
}

std::string order_in_cpp(std::string_view word) {
  if (word == "acquire") return "Order::kAcquire";
  if (word == "release") return "Order::kRelease";
  if (word == "acq_rel") return "Order::kAcqRel";
  if (word == "sc") return "Order::kSeqCst";
  return "Order::kRelaxed";
}

// A cluster is one block: softgpu launches no larger ones.
std::string take_scope(Emitter& e, std::string_view otherwise) {
  std::string_view word = e.take_one_of({"cta", "cluster", "gpu", "sys"});
  if (word.empty()) word = otherwise;
  if (word == "cta") return "Scope::kBlock";
  return word == "sys" ? "Scope::kSystem" : "Scope::kDevice";
}

}  // namespace softgpu::ptx
