// The names that registers, variables and functions of PTX have in C++.
#pragma once

#include <string>
#include <string_view>

namespace softgpu::ptx {

// '%' is no letter of C++; PTX has it first or nowhere.
inline std::string cpp_name(std::string_view prefix, std::string_view name) {
  std::string result(prefix);
  for (char c : name) result += c == '%' ? '_' : c == '.' ? '$' : c;
  return result;
}
inline std::string function_name(std::string_view name) { return cpp_name("f_", name); }
inline std::string register_name(std::string_view name) { return cpp_name("r_", name); }
inline std::string local_name(std::string_view name) { return cpp_name("v_", name); }
inline std::string parameter_name(std::string_view name) { return cpp_name("p_", name); }
inline std::string shared_name(std::string_view name) { return cpp_name("kShared_", name); }

}  // namespace softgpu::ptx
