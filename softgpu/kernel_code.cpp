#include "softgpu/kernel_code.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "softgpu/code_cache.hpp"
#include "softgpu/ptx/module.hpp"
#include "softgpu/ptx/names.hpp"
#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/translate.hpp"
#include "softgpu/services.hpp"

namespace softgpu {

// ---- Kernel ----------------------------------------------------------------------------------

Kernel::Kernel(const Module& module, const ptx::Function& function)
    : module_(module),
      function_(function),
      name_(function.name),
      param_bytes_(function.param_bytes),
      max_threads_(function.max_threads) {
  for (const ptx::Parameter& p : function.parameters) {
    parameters_.push_back({p.offset, p.bytes, p.align});
  }
}
Kernel::~Kernel() = default;

Kernel::Translated& Kernel::translated(bool counting) {
  Translated& it = translated_[counting];
  if (it.is_done) return it;
  const auto what = counting ? ptx::Counts::kInstructions : ptx::Counts::kNothing;
  ptx::Translation translation = ptx::translate(module_.text(), function_, what);
  it.functions = std::move(translation.functions);
  it.source = std::move(translation.source);
  it.forms = std::move(translation.forms);
  it.sites = std::move(translation.sites);
  static_shared_ = translation.static_shared;
  for (const ptx::Variable* v : translation.variables) it.variables.push_back(module_.address(*v));
  it.is_done = true;
  return it;
}

std::size_t Kernel::static_shared() {
  const std::lock_guard lock(mutex_);
  if (!translated_[true].is_done) translated(false);
  return static_shared_;
}

Kernel::Code Kernel::code(CodeKind kind) {
  const std::lock_guard lock(mutex_);
  Translated& it = translated(kind.counting);
  Code& code = it.code[kind.watched];
  if (code == nullptr) {
    for (const std::string& function : it.functions) load_called_code(function, kind.watched);
    void* const library = load_code(it.source, kind.watched);
    code = reinterpret_cast<Code>(dlsym(library, ptx::kKernelSymbol));
    if (code == nullptr) throw PtxError(0, "compiled code lacks the kernel " + name_);
  }
  return code;
}

std::string Kernel::line_of_site(bool counting, std::string_view function, unsigned site) const {
  for (const std::string_view prefix : {"softgpu_plain_", "softgpu_watched_"}) {
    if (function.starts_with(prefix)) function.remove_prefix(prefix.size());
  }
  const unsigned line = translated_[counting].sites.at(std::string(function)).at(site);
  return "PTX line " + std::to_string(line) + ": " +
         std::string(ptx::line_of(module_.text().text, line));
}

Env Kernel::env(const LaunchData& launch) const {
  chime::simt::ThreadState* const thread = chime::simt::current();
  Env e;
  e.thread = thread;
  e.parameters = launch.parameters;
  e.shared = reinterpret_cast<std::uint8_t*>(thread->block->dynamic_shared);
  e.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  e.shared_bytes = static_cast<std::uint32_t>(static_shared_) + launch.dynamic_shared_bytes;
  e.grid_workspace = launch.grid_workspace;
  e.variables = translated_[launch.counts != nullptr].variables.data();
  e.services = &services();
  e.module = &module_;
  e.kernel = this;
  e.counts = launch.counts;
  return e;
}

// ---- Module ----------------------------------------------------------------------------------

Module::Module(std::string text) : text_(ptx::parse_module(std::move(text))) {
  for (const ptx::Function& f : text_->functions) {
    if (f.is_entry) kernels_.push_back(std::make_unique<Kernel>(*this, f));
  }
  place_variables();
}
Module::~Module() = default;

void Module::Free::operator()(std::uint8_t* memory) const { std::free(memory); }

// Shared variables have their places in each block; extern ones have none here.
void Module::place_variables() {
  for (const ptx::Variable& v : text_->variables) {
    variables_.push_back(nullptr);
    if (v.space == ptx::Space::kShared || v.is_extern) continue;
    const std::size_t align = std::max<std::size_t>(v.align, 16);
    const std::size_t bytes = (std::max<std::size_t>(v.bytes, 1) + align - 1) / align * align;
    memory_.emplace_back(static_cast<std::uint8_t*>(std::aligned_alloc(align, bytes)));
    if (!memory_.back()) throw std::bad_alloc();
    std::memset(memory_.back().get(), 0, bytes);
    std::copy(v.initial.begin(), v.initial.end(), memory_.back().get());
    variables_.back() = memory_.back().get();
  }
  for (std::size_t i = 0; i < text_->variables.size(); ++i) {
    for (const ptx::Relocation& r : text_->variables[i].relocations) {
      std::size_t bytes = 0;
      auto* target = static_cast<std::uint8_t*>(variable(r.symbol, &bytes));
      if (target == nullptr) {
        throw PtxError(text_->variables[i].line, "a first value is the address of '" +
                                                     std::string(r.symbol) +
                                                     "', which is no variable of this module");
      }
      const std::uint64_t address =
          reinterpret_cast<std::uintptr_t>(target) + static_cast<std::uint64_t>(r.addend);
      if (variables_[i] != nullptr) std::memcpy(variables_[i] + r.offset, &address, 8);
    }
  }
}

Kernel* Module::find(std::string_view name) const {
  for (const auto& kernel : kernels_) {
    if (kernel->name() == name) return kernel.get();
  }
  return nullptr;
}

std::vector<Kernel*> Module::kernels() const {
  std::vector<Kernel*> all;
  for (const auto& kernel : kernels_) all.push_back(kernel.get());
  return all;
}

std::uint8_t* Module::address(const ptx::Variable& variable) const {
  return variables_[static_cast<std::size_t>(&variable - text_->variables.data())];
}

Column Module::variable_at(std::uint64_t address) const {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const auto begin = reinterpret_cast<std::uint64_t>(variables_[i]);
    const ptx::Variable& v = text_->variables[i];
    if (begin != 0 && address - begin < v.bytes)
      return v.space == ptx::Space::kConst ? Column::kConst : Column::kDevice;
  }
  return Column::kOther;
}

void* Module::variable(std::string_view name, std::size_t* bytes) const {
  const auto found = text_->variable_index.find(name);
  if (found == text_->variable_index.end()) return nullptr;
  if (bytes) *bytes = text_->variables[found->second].bytes;
  return variables_[found->second];
}

}  // namespace softgpu
