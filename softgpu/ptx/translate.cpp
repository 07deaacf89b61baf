#include "softgpu/ptx/translate.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "softgpu/ptx/emitter.hpp"
#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/names.hpp"
#include "softgpu/vocabulary/env.hpp"

namespace softgpu::ptx {

namespace {

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::string signature(const Function& f) {
  std::string text = "[[gnu::noinline]] static void " + function_name(f.name) + "(Env& e";
  for (const auto* list : {&f.results, &f.parameters}) {
    for (const Parameter& p : *list) text += ", u8* " + parameter_name(p.name);
  }
  return text + ")";
}

// The symbol is the kernel's name, whatever letters it has.
std::string entry(const Function& f) {
  return "extern \"C\" __attribute__((visibility(\"default\"))) void softgpu_entry(Env& e) asm(\"" +
         std::string(f.name) + "\");\nextern \"C\" void softgpu_entry(Env& e)";
}

// Addresses of shared variables: those of a size in the order of their names, then the dynamic
// ones, which all begin at one place.
class SharedLayout {
 public:
  void add(const Variable& v, const std::string& name) {
    if (!variables_.try_emplace(name, &v).second) {
      throw PtxError(v.line, "a second shared variable " + std::string(v.name));
    }
  }

  // Their definitions; *bytes of all but the dynamic ones.
  std::string place(std::size_t* bytes) const {
    std::string text;
    std::size_t end = 0, align = 16;
    for (const auto& [name, v] : variables_) {
      if (v->bytes == 0) {
        align = std::max(align, v->align);
        continue;
      }
      end = round_up(end, v->align);
      text += definition(name, end);
      end += v->bytes;
      if (end > kMostShared) throw PtxError(v->line, "the kernel's shared variables are too large");
    }
    *bytes = round_up(end, align);
    for (const auto& [name, v] : variables_) {
      if (v->bytes == 0) text += definition(name, *bytes);
    }
    return text;
  }

 private:
  static std::string definition(const std::string& name, std::size_t offset) {
    return "constexpr u64 " + name + " = " + std::to_string(kSharedBase + offset) + ";\n";
  }
  static constexpr std::size_t kMostShared = 227 * 1024;  // of a block of sm_90
  std::map<std::string, const Variable*> variables_;
};

}  // namespace

Translation translate(const Module& module, const Function& kernel) {
  Reached reached;
  reached.functions.insert(kernel.name);
  std::deque<Emitter> emitters;  // shared variables of functions lie in them
  std::string declarations, bodies;
  std::map<std::string_view, std::string> done;
  while (done.size() < reached.functions.size()) {
    const auto next = std::find_if(reached.functions.begin(), reached.functions.end(),
                                   [&](std::string_view name) { return !done.contains(name); });
    const Function& f = *module.find_function(*next);
    if (!f.has_body) throw PtxError(f.line, "kernel " + std::string(f.name) + " has no body");
    emitters.emplace_back(module, f, reached);
    done[f.name] = emitters.back().body();
  }
  for (const auto& [name, body] : done) {
    const Function& f = *module.find_function(name);
    if (!f.is_entry) declarations += signature(f) + ";\n";
    bodies += (f.is_entry ? entry(f) : signature(f)) + " {\n" + body + "}\n";
  }
  SharedLayout shared;
  for (std::string_view name : reached.shared) {
    shared.add(*module.find_variable(name), shared_name(name));
  }
  for (const Variable* v : reached.own_shared) shared.add(*v, shared_name(v->name));
  Translation translation;
  const std::string constants = shared.place(&translation.static_shared);
  translation.source =
      "namespace softgpu {\n" + constants + declarations + bodies + "}  // namespace softgpu\n";
  return translation;
}

}  // namespace softgpu::ptx
