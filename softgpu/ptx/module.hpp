// The contents of a PTX text: its variables and functions, and the statements of a function's body.
//
// Names and words are parts of the text, which Module holds. Bodies are kept as tokens until their
// statements are requested (parse.hpp): a program runs few of its kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "softgpu/ptx/tokens.hpp"

namespace softgpu::ptx {

enum class Space { kGlobal, kConst, kShared, kLocal, kParam };

// In an initialiser: the address of `symbol` + addend, 8 bytes at `offset`.
struct Relocation {
  std::size_t offset;
  std::string_view symbol;
  std::int64_t addend;
};

struct Variable {
  std::string_view name;
  Space space = Space::kGlobal;
  std::size_t bytes = 0;  // 0: the launch gives the size (extern shared)
  std::size_t align = 1;
  bool is_extern = false;
  unsigned line = 0;
  std::vector<std::uint8_t> initial;  // the first bytes; the others are 0
  std::vector<Relocation> relocations;
};

struct Parameter {
  std::string_view name;
  std::size_t bytes = 0, align = 1;
  std::size_t offset = 0;  // of an entry's parameter, in the launch's parameters
};

struct Function {
  std::string_view name;
  bool is_entry = false, has_body = false;
  unsigned line = 0;
  std::vector<Parameter> results, parameters;
  std::size_t param_bytes = 0;
  unsigned max_threads = 1024;
  std::size_t body = 0, body_end = 0;  // tokens between the braces
};

struct Module {
  std::string text;
  std::vector<Token> tokens;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::unordered_map<std::string_view, std::size_t> variable_index, function_index;

  Module() = default;
  Module(const Module&) = delete;

  const Variable* find_variable(std::string_view name) const {
    const auto found = variable_index.find(name);
    return found == variable_index.end() ? nullptr : &variables[found->second];
  }
  const Function* find_function(std::string_view name) const {
    const auto found = function_index.find(name);
    return found == function_index.end() ? nullptr : &functions[found->second];
  }
};

// ---- Statements ------------------------------------------------------------------------------

struct Operand {
  enum Kind {
    kName,     // a register, special register, label, variable or function; name+8 has an offset
    kNumber,   // as it is written, with its sign
    kAddress,  // [name+offset] or [number+offset]
    kVector,   // {a, b}
    kSink,     // _
  };
  Kind kind = kSink;
  std::string_view text;
  bool is_negative = false;  // a number with a minus
  bool is_negated = false;   // !p
  std::int64_t offset = 0;
  std::vector<Operand> parts;   // of a vector
  std::vector<Operand> beside;  // of p|q: q
};

struct Instruction {
  unsigned line = 0;
  std::string_view guard;  // @p; empty: none
  bool is_guard_negated = false;
  std::string_view opcode;
  std::vector<std::string_view> words;  // the words that follow, each after its dot
  std::vector<Operand> operands;
  // In a call operands[0] is the function.
  std::vector<Operand> results, arguments;
};

struct BlockBegins {};
struct BlockEnds {};
struct Label {
  std::string_view name;
  unsigned line;
};
struct Registers {
  std::string_view name, type;
  bool is_range;      // name0 to name<count - 1>
  std::size_t count;  // 1 unless it is a range
  unsigned line;
};
struct BranchTargets {
  std::string_view name;
  std::vector<std::string_view> labels;
};
using Statement =
    std::variant<BlockBegins, BlockEnds, Label, Registers, Variable, BranchTargets, Instruction>;

// A line of a text, counted from 1, without the blanks around it.
std::string_view line_of(std::string_view text, unsigned line);

// "ld.global.u32": an instruction without its operands.
std::string form_of(const Instruction& instruction);

}  // namespace softgpu::ptx
