#include "softgpu/ptx/translate.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "softgpu/ptx/emitter.hpp"
#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/names.hpp"
#include "softgpu/vocabulary/env.hpp"

namespace softgpu::ptx {

namespace {

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::string signature(const Function& f, Reached& reached) {
  std::string text = "[[gnu::noinline]] static void " + reached.function(f) + "(Env& e";
  for (std::size_t i = 0; i < f.results.size() + f.parameters.size(); ++i) {
    text += ", u8* " + parameter_name(i);
  }
  return text + ")";
}

std::string entry() {
  return "extern \"C\" __attribute__((visibility(\"default\"))) void " +
         std::string(kKernelSymbol) + "(Env& e)";
}

std::string shared_definition(std::size_t number, std::size_t offset) {
  return "constexpr u64 " + shared_name(number) + " = " + std::to_string(kSharedBase + offset) +
         ";\n";
}

// Addresses of shared variables: those of a size one after the other, then the dynamic ones, which
// all begin at one place. *bytes: of all but these.
std::string place_shared(const std::vector<const Variable*>& variables, std::size_t* bytes) {
  constexpr std::size_t kMostShared = 227 * 1024;  // of a block of sm_90
  std::string text;
  std::size_t end = 0, align = 16;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Variable& v = *variables[i];
    if (v.bytes == 0) {
      align = std::max(align, v.align);
      continue;
    }
    end = round_up(end, v.align);
    text += shared_definition(i, end);
    end += v.bytes;
    if (end > kMostShared) throw PtxError(v.line, "the kernel's shared variables are too large");
  }
  *bytes = round_up(end, align);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i]->bytes == 0) text += shared_definition(i, *bytes);
  }
  return text;
}

}  // namespace

// A function's body may reach more functions, which come behind it.
Translation translate(const Module& module, const Function& kernel, Counts what) {
  Translation translation;
  Forms forms;
  Reached reached;
  reached.forms = what == Counts::kInstructions ? &forms : nullptr;
  reached.function(kernel);
  std::deque<Emitter> emitters;  // shared variables of functions lie in them
  std::string declarations, bodies;
  for (std::size_t i = 0; i < reached.functions.size(); ++i) {
    const Function& f = *reached.functions[i];
    if (!f.has_body) throw PtxError(f.line, "kernel " + std::string(f.name) + " has no body");
    emitters.emplace_back(module, f, reached);
    const std::string head = f.is_entry ? entry() : signature(f, reached);
    if (!f.is_entry) declarations += head + ";\n";
    bodies += head + " {\n" + emitters.back().body() + "}\n";
  }
  const std::string constants = place_shared(reached.shared, &translation.static_shared);
  translation.variables = std::move(reached.variables);
  translation.forms = forms.names();
  translation.source =
      "namespace softgpu {\n" + constants + declarations + bodies + "}  // namespace softgpu\n";
  return translation;
}

}  // namespace softgpu::ptx
