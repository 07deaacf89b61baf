// One kernel of a module, with the functions that it reaches, as C++ sources.
//
// A function that depends on nothing of the kernel gets a source of its own, with a name from its
// contents: functions that many kernels call are compiled once. Functions that name shared
// variables, call themselves or are counted, and their callers, are in the kernel's source.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "softgpu/ptx/module.hpp"

namespace softgpu::ptx {

struct Translation {
  std::vector<std::string> functions;  // sources: each after those that it calls
  std::string source;                  // defines one symbol, kKernelSymbol
  std::size_t static_shared = 0;
  std::vector<const Variable*> variables;  // for Env::variables, in this order
  // Lines of the instructions with checked addresses, by their numbers, for each function name:
  // without SOFTGPU_FUNCTION's prefix if the function has a source of its own.
  std::map<std::string, std::vector<unsigned>> sites;
  std::vector<std::string> forms;  // of instructions, by their numbers, where code counts
};

enum class Counts { kNothing, kInstructions };

// The source expects vocabulary/vocabulary.hpp before it. Throws PtxError.
Translation translate(const Module& module, const Function& kernel, Counts what = Counts::kNothing);

}  // namespace softgpu::ptx
