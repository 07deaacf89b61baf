// Branches, calls and ends.
#include <algorithm>
#include <iterator>

#include "softgpu/ptx/instructions.hpp"
#include "softgpu/ptx/names.hpp"
#include "softgpu/words/host_functions.h"

namespace softgpu::ptx {

namespace {

void emit_bra(Emitter& e) {
  e.take("uni");
  const Operand& label = e.operand(0);
  if (label.kind != Operand::kName) e.fail("a label is wanted");
  e.branch_to(label.text);
}

void emit_brx(Emitter& e) {
  e.take("uni");
  if (!e.take("idx")) e.fail(".idx is wanted");
  const BranchTargets* targets = e.scopes().targets(e.operand(1).text);
  if (targets == nullptr) e.fail("a list of labels is wanted");
  e.line("switch (" + e.word(0) + ") {");
  for (std::size_t i = 0; i < targets->labels.size(); ++i) {
    e.line("case " + std::to_string(i) + ":");
    e.branch_to(targets->labels[i]);
  }
  e.line("default: simt::trap(\"a branch beyond its list of labels\"); }");
}

// A result or argument of a call: the bytes of a .param variable.
std::string passed(Emitter& e, const Operand& o, const Parameter& parameter) {
  const LocalVariable* v = o.kind == Operand::kName ? e.scopes().variable(o.text) : nullptr;
  if (v == nullptr || v->variable->space != Space::kParam || o.offset != 0) {
    e.fail("softgpu passes .param variables to functions");
  }
  if (v->variable->bytes < parameter.bytes) {
    e.fail("an argument is smaller than the function's parameter");
  }
  return ", " + v->cpp;
}

struct Known {
  std::string_view name;
  std::size_t results, parameters;

  bool is(const Function& f) const {
    return f.name == name && f.results.size() == results && f.parameters.size() == parameters;
  }
};

bool is_of_vocabulary(const Function& f) {
#define SOFTGPU_OF_ONE(NAME) Known{"softgpu_" #NAME, 1, 1}, Known{"softgpu_" #NAME "f", 1, 1},
#define SOFTGPU_OF_TWO(NAME) Known{"softgpu_" #NAME, 1, 2}, Known{"softgpu_" #NAME "f", 1, 2},
  static constexpr Known kKnown[] = {
      SOFTGPU_HOST_FUNCTIONS_OF_ONE(SOFTGPU_OF_ONE) SOFTGPU_HOST_FUNCTIONS_OF_TWO(SOFTGPU_OF_TWO)
          Known{"vprintf", 1, 2},
      Known{"malloc", 1, 1}, Known{"free", 0, 1}, Known{"__assertfail", 0, 5}};
#undef SOFTGPU_OF_TWO
#undef SOFTGPU_OF_ONE
  return std::any_of(std::begin(kKnown), std::end(kKnown),
                     [&](const Known& known) { return known.is(f); });
}

// The functions by which Chime's kernels report their waits and operations: on a GPU they have
// empty bodies.
bool is_report(const Function& f) {
  static constexpr Known kReports[] = {{"chime_wait_lasts", 0, 6},
                                       {"chime_wait_ended", 0, 0},
                                       {"chime_trace_begin", 1, 9},
                                       {"chime_trace_seen", 0, 2},
                                       {"chime_trace_end", 0, 1}};
  return std::any_of(std::begin(kReports), std::end(kReports),
                     [&](const Known& known) { return known.is(f); });
}

void emit_call(Emitter& e) {
  e.take("uni");
  const Operand& callee = e.operand(0);
  if (callee.kind != Operand::kName || callee.offset != 0) e.fail("a function is wanted");
  const Function* f = e.module().find_function(callee.text);
  if (f == nullptr) e.fail("softgpu calls functions by their names alone");
  if (f->is_entry) e.fail("a kernel is not called");
  const Instruction& call = e.instruction();
  if (call.results.size() != f->results.size() || call.arguments.size() != f->parameters.size()) {
    e.fail("the call has not as many operands as the function");
  }
  const bool is_translated = f->has_body && !is_report(*f);
  if (!is_translated && !is_of_vocabulary(*f) && !is_report(*f)) {
    e.fail("function '" + std::string(f->name) + "' has no body here");
  }
  std::string text = is_translated ? e.reached().call(*f) : cpp_name("f_", f->name) + "(e";
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    text += passed(e, call.results[i], f->results[i]);
  }
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    text += passed(e, call.arguments[i], f->parameters[i]);
  }
  e.line(text + ");");
}

void emit_ret(Emitter& e) {
  e.take("uni");
  e.line("return;");
}
void emit_exit(Emitter& e) { e.line("simt::end_thread();"); }
void emit_trap(Emitter& e) { e.line("trap();"); }
void emit_nanosleep(Emitter& e) {
  e.take("u32");
  e.line("exec::nanosleep(" + e.word(0) + ");");
}

}  // namespace

void add_control(Instructions& all) {
  auto& table = all.of_any_type;
  table["bra"] = emit_bra;
  table["brx"] = emit_brx;
  table["call"] = emit_call;
  table["ret"] = emit_ret;
  table["exit"] = emit_exit;
  table["trap"] = emit_trap;
  table["nanosleep"] = emit_nanosleep;
}

}  // namespace softgpu::ptx
