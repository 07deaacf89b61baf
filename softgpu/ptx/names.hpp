// The names that registers, variables and functions of PTX have in C++.
//
// All but registers are called by numbers, in the order in which a kernel needs them: what two
// kernels call things does not tell them apart. So kernels that do the same, such as a template's
// for int and for unsigned, have one source, and are compiled once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace softgpu::ptx {

// '%' is no letter of C++; PTX has it first or nowhere.
inline std::string cpp_name(std::string_view prefix, std::string_view name) {
  std::string result(prefix);
  for (char c : name) result += c == '%' ? '_' : c == '.' ? '$' : c;
  return result;
}
inline std::string register_name(std::string_view name) { return cpp_name("r_", name); }
// What a function calls, and that one's list of variables.
inline std::string callee_name(std::size_t number) { return "callee" + std::to_string(number); }
inline std::string list_name(std::size_t number) { return "list" + std::to_string(number); }
inline std::string local_name(std::size_t number) { return "local" + std::to_string(number); }
inline std::string label_name(std::size_t number) { return "label" + std::to_string(number); }
inline std::string parameter_name(std::size_t number) {
  return "parameter" + std::to_string(number);
}
inline std::string shared_name(std::size_t number) { return "kShared" + std::to_string(number); }

// The symbol of every kernel.
inline constexpr const char* kKernelSymbol = "softgpu_kernel";

}  // namespace softgpu::ptx
