#include "softgpu/ptx/translate.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "softgpu/fingerprint.hpp"
#include "softgpu/ptx/emit/emitter.hpp"
#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/names.hpp"
#include "softgpu/vocabulary/env.hpp"

namespace softgpu::ptx {

namespace {

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::string in_namespace(const std::string& text) {
  return "namespace softgpu {\n" + text + "}  // namespace softgpu\n";
}

// ---- Shared variables ------------------------------------------------------------------------

std::string shared_definition(std::size_t number, std::size_t offset) {
  return "constexpr u64 " + shared_name(number) + " = " + std::to_string(kSharedBase + offset) +
         ";\n";
}

// Addresses of shared variables: first those with a size, one after the other; then the dynamic
// ones, which all begin at one address. *bytes: the size of the former.
std::string place_shared(const SharedVariables& variables, std::size_t* bytes) {
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

// ---- Functions -------------------------------------------------------------------------------

// A function gets a list of the variables that it names and, after these, the lists of the
// functions that it calls.
struct Emitted {
  Emitted(const Module& module, const Function& function, SharedVariables& shared, Forms* forms)
      : function(function),
        reached{
            .functions = {}, .variables = {}, .shared = shared, .site_lines = {}, .forms = forms},
        emitter(module, function, reached) {}

  const Function& function;
  Reached reached;
  Emitter emitter;  // has the shared variables of the function
  std::string body;
  bool is_whole = false;              // all functions that it calls are emitted, too
  bool is_alone = false;              // a source of its own
  std::vector<const Variable*> list;  // if so: its variables, and those of its callees
  std::string name;                   // in C++
};

std::string signature(const Emitted& it) {
  const Function& f = it.function;
  std::string text = "void " + it.name + "(Env& e, u8* const* variables";
  for (std::size_t i = 0; i < f.results.size() + f.parameters.size(); ++i) {
    text += ", u8* " + parameter_name(i);
  }
  return text + ")";
}

class Translator {
 public:
  Translator(const Module& module, Counts what)
      : module_(module), forms_(what == Counts::kInstructions ? &counted_ : nullptr) {}

  Translation translate(const Function& kernel) {
    list_of(emit(kernel));  // from the list's begin on
    std::string declarations, bodies;
    // A body may reach more variables of the kernel's, which come after it.
    for (std::size_t i = 0; i < in_kernel_.size(); ++i) {
      const Emitted& f = *in_kernel_[i];
      const std::string head = f.function.is_entry ? entry() : in_kernel(f);
      if (!f.function.is_entry) declarations += head + ";\n";
      bodies += head + " {\n" + (f.function.is_entry ? kListOfEntry : "") + callees_in_kernel(f) +
                f.body + "}\n";
    }
    translation_.source = in_namespace(place_shared(shared_, &translation_.static_shared) +
                                       called_ + declarations + bodies);
    translation_.variables = std::move(list_);
    translation_.forms = counted_.names();
    return std::move(translation_);
  }

 private:
  static constexpr unsigned kDeepest = 1000;       // of calls
  static constexpr std::size_t kLongest = 10'000;  // of lists
  static constexpr const char* kListOfEntry =
      "  [[maybe_unused]] u8* const* const variables = e.variables;\n";

  static std::string entry() {
    return "extern \"C\" __attribute__((visibility(\"default\"))) void " +
           std::string(kKernelSymbol) + "(Env& e)";
  }
  static std::string in_kernel(const Emitted& f) {
    return "[[gnu::noinline]] static " + signature(f);
  }

  // With all functions that it calls.
  Emitted& emit(const Function& f) {
    const auto found = by_function_.find(&f);
    if (found != by_function_.end()) return *found->second;
    if (!f.has_body) throw PtxError(f.line, "kernel " + std::string(f.name) + " has no body");
    if (++depth_ > kDeepest) throw PtxError(f.line, "functions call each other too deeply");
    Emitted& it = emitted_.emplace_back(module_, f, shared_, forms_);
    by_function_.emplace(&f, &it);
    it.body = it.emitter.body();
    it.is_alone = !f.is_entry && forms_ == nullptr && !it.reached.names_shared;
    for (const Function* callee : it.reached.functions) {
      const Emitted& called = emit(*callee);
      it.is_alone = it.is_alone && called.is_whole && called.is_alone;
    }
    if (it.is_alone) stand_alone(it);
    it.is_whole = true;
    --depth_;
    return it;
  }

  // Its symbol comes from its code: two functions with equal code are one.
  void stand_alone(Emitted& it) {
    it.list = it.reached.variables;
    std::string declarations, callees;
    for (std::size_t i = 0; i < it.reached.functions.size(); ++i) {
      const Emitted& callee = *by_function_.at(it.reached.functions[i]);
      declarations += "SOFTGPU_EXPORTED " + signature(callee) + ";\n";
      callees += named(callee, i, "variables + " + std::to_string(it.list.size()));
      it.list.insert(it.list.end(), callee.list.begin(), callee.list.end());
    }
    it.is_alone = it.list.size() <= kLongest;
    if (!it.is_alone) return;
    const std::string body = " {\n" + callees + it.body + "}\n";
    const std::string symbol = fingerprint(declarations + signature(it) + body);
    it.name = "SOFTGPU_FUNCTION(" + symbol + ")";
    translation_.sites.emplace(symbol, it.reached.site_lines);
    translation_.functions.push_back(
        in_namespace(declarations + "SOFTGPU_EXPORTED " + signature(it) + body));
  }

  // The position of its list in the kernel's. The first call adds the list, and adds the function
  // to those that the kernel's source defines or declares.
  std::size_t list_of(Emitted& it) {
    const auto [place, is_new] = places_.try_emplace(&it, list_.size());
    if (!is_new) return place->second;
    const auto& list = it.is_alone ? it.list : it.reached.variables;
    list_.insert(list_.end(), list.begin(), list.end());
    if (it.is_alone) {
      called_ += "SOFTGPU_EXPORTED " + signature(it) + ";\n";
    } else {
      it.name = "function" + std::to_string(in_kernel_.size());
      translation_.sites.emplace(it.function.is_entry ? kKernelSymbol : it.name,
                                 it.reached.site_lines);
      in_kernel_.push_back(&it);
    }
    return place->second;
  }

  std::string callees_in_kernel(const Emitted& f) {
    std::string text;
    for (std::size_t i = 0; i < f.reached.functions.size(); ++i) {
      Emitted& callee = *by_function_.at(f.reached.functions[i]);
      const std::size_t at = list_of(callee);
      text += named(callee, i, "e.variables + " + std::to_string(at));
    }
    return text;
  }

  static std::string named(const Emitted& callee, std::size_t number, const std::string& list) {
    return "  constexpr auto* " + callee_name(number) + " = " + callee.name +
           ";\n  u8* const* const " + list_name(number) + " = " + list + ";\n";
  }

  const Module& module_;
  Forms counted_;
  Forms* const forms_;
  SharedVariables shared_;
  std::deque<Emitted> emitted_;
  std::unordered_map<const Function*, Emitted*> by_function_;
  unsigned depth_ = 0;

  std::vector<Emitted*> in_kernel_;  // in the kernel's source: the kernel, and functions
  std::string called_;               // declarations of functions of other sources that these call
  std::vector<const Variable*> list_;
  std::unordered_map<const Emitted*, std::size_t> places_;  // in it
  Translation translation_;
};

}  // namespace

Translation translate(const Module& module, const Function& kernel, Counts what) {
  return Translator(module, what).translate(kernel);
}

}  // namespace softgpu::ptx
