// One kernel of a module, with the functions that it reaches, as a C++ source.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "softgpu/ptx/module.hpp"

namespace softgpu::ptx {

struct Translation {
  std::string source;  // defines one symbol, kKernelSymbol
  std::size_t static_shared = 0;
  std::vector<const Variable*> variables;  // what Env::variables shall point at, in this order
  std::vector<std::string> forms;          // of instructions, by their numbers, where code counts
};

enum class Counts { kNothing, kInstructions };

// The source expects vocabulary/vocabulary.hpp before it. Throws PtxError.
Translation translate(const Module& module, const Function& kernel, Counts what = Counts::kNothing);

}  // namespace softgpu::ptx
