// Types of instructions, and their types in C++.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace softgpu::ptx {

struct Type {
  std::string_view name;  // without its dot
  std::size_t bytes = 0;

  char kind() const { return name.empty() ? '\0' : name.starts_with("bf") ? 'f' : name.front(); }
  bool is_predicate() const { return name == "pred"; }
  bool is_float() const { return kind() == 'f'; }
  bool is_half() const { return is_float() && bytes == 2; }
  bool is_signed() const { return kind() == 's'; }
  bool is_bits() const { return kind() == 'b'; }
  std::size_t bits() const { return 8 * bytes; }

  // "u32" of b32 and u32, "s32", "f32", "bool".
  std::string cpp() const {
    if (is_predicate()) return "bool";
    return is_bits() ? word() : std::string(name);
  }
  // The type of a register: a float in a word would move to a float register and back in each
  // instruction.
  std::string reg() const { return is_float() && !is_half() ? std::string(name) : word(); }
  // The unsigned word of its size.
  std::string word() const { return is_predicate() ? "bool" : "u" + std::to_string(bits()); }
};

// Without bytes: `name` is no type.
Type type_of(std::string_view name);
// The unsigned type of that many bytes.
Type unsigned_of(std::size_t bytes);

inline constexpr std::string_view kPredicate = "pred";

}  // namespace softgpu::ptx
