// One kernel of a module, with the functions that it reaches, as C++ sources.
//
// A function that depends on nothing of the kernel's is a source of its own, called by what is in
// it: what many kernels call is compiled once. Those that name shared variables, call themselves or
// are counted, and those that call such, are in the kernel's.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "softgpu/ptx/module.hpp"

namespace softgpu::ptx {

struct Translation {
  std::vector<std::string> functions;  // sources: each behind those that it calls
  std::string source;                  // defines one symbol, kKernelSymbol
  std::size_t static_shared = 0;
  std::vector<const Variable*> variables;  // what Env::variables shall point at, in this order
  // Lines of the instructions whose addresses are checked, by their numbers, by the function's
  // name: without SOFTGPU_FUNCTION's prefix where it has a source of its own.
  std::map<std::string, std::vector<unsigned>> sites;
  std::vector<std::string> forms;  // of instructions, by their numbers, where code counts
};

enum class Counts { kNothing, kInstructions };

// The source expects vocabulary/vocabulary.hpp before it. Throws PtxError.
Translation translate(const Module& module, const Function& kernel, Counts what = Counts::kNothing);

}  // namespace softgpu::ptx
