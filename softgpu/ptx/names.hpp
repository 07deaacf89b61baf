// The names that registers, variables and functions of PTX have in C++.
//
// All but registers get numbers, in the order in which a kernel needs them, so that names do not
// make two kernels different. Kernels with equal effect, such as a template's for int and for
// unsigned, have one source, and are compiled once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace softgpu::ptx {

// '%' is not allowed in C++ names; in PTX it is the first letter or does not occur.
inline std::string cpp_name(std::string_view prefix, std::string_view name) {
  std::string result(prefix);
  for (char c : name) result += c == '%' ? '_' : c == '.' ? '$' : c;
  return result;
}
inline std::string register_name(std::string_view name) { return cpp_name("r_", name); }
// A called function, and its list of variables.
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
