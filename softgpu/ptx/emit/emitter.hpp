// Emits the C++ of a function's body, instruction by instruction. The families of instructions
// (emit_*.cpp) use it.
//
// Nothing is ignored: it refuses an instruction with words or operands that its family has not
// read, and an instruction without a family.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/ptx/module.hpp"
#include "softgpu/ptx/names.hpp"
#include "softgpu/ptx/scopes.hpp"
#include "softgpu/ptx/types.hpp"

namespace softgpu::ptx {

// The forms of instructions that code counts, and their numbers.
class Forms {
 public:
  unsigned number_of(const std::string& form) {
    const auto [entry, is_new] = numbers_.try_emplace(form, static_cast<unsigned>(names_.size()));
    if (is_new) names_.push_back(form);
    return entry->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, unsigned> numbers_;
  std::vector<std::string> names_;
};

// Shared variables that a kernel and its functions name, in the order of their first use.
using SharedVariables = std::vector<const Variable*>;

// The objects that a function's body names besides its own, each in the order of first use. Gives
// their names in the source: ptx/translate.cpp defines them.
struct Reached {
  std::vector<const Function*> functions;
  std::vector<const Variable*> variables;  // of the module, in global or const memory
  SharedVariables& shared;
  bool names_shared = false;
  std::vector<unsigned> site_lines;  // of instructions with checked addresses
  Forms* forms = nullptr;            // null: no counting

  // The begin of a call: the function, and its first arguments.
  std::string call(const Function& f) {
    const std::size_t number = number_in(functions, f);
    return callee_name(number) + "(e, " + list_name(number);
  }
  std::string shared_variable(const Variable& v) {
    names_shared = true;
    return shared_name(number_in(shared, v));
  }
  std::string variable(const Variable& v) {
    return "variables[" + std::to_string(number_in(variables, v)) + "]";
  }

 private:
  template <class T>
  static std::size_t number_in(std::vector<const T*>& list, const T& one) {
    const auto found = std::find(list.begin(), list.end(), &one);
    const auto number = static_cast<std::size_t>(found - list.begin());
    if (found == list.end()) list.push_back(&one);
    return number;
  }
};

class Emitter {
 public:
  Emitter(const Module& module, const Function& function, Reached& reached);

  // The statements of the body, without the braces around it.
  std::string body();

  // ---- The words of the current instruction, each taken once ----

  std::string_view opcode() const { return instruction_->opcode; }
  bool take(std::string_view word);
  // The one that is present of several that exclude each other; empty: none.
  std::string_view take_one_of(std::initializer_list<std::string_view> words);
  bool take_prefixed(std::string_view prefix);  // "L1::evict_last" by "L1::"
  Type take_type();                             // the last word that is left
  Type last_type() const;                       // the same, without taking it

  // ---- Operands ----

  enum class Width { kSame, kWider };  // whether a register may be wider than the type

  std::size_t operand_count() const { return instruction_->operands.size(); }
  const Operand& operand(std::size_t index);
  const Instruction& instruction() const { return *instruction_; }

  // Operand `index` as a C++ value of a type.
  std::string in(std::size_t index, Type type, Width width = Width::kSame) {
    return value(operand(index), type, width);
  }
  std::string predicate(std::size_t index) { return in(index, type_of(kPredicate)); }
  std::string word(std::size_t index) { return in(index, type_of("u32")); }
  std::string value(const Operand& o, Type type, Width width = Width::kSame);

  // Assigns the expression, which has a type, to operand `index`.
  void out(std::size_t index, Type type, const std::string& expression,
           Width width = Width::kSame) {
    assign(operand(index), type, expression, width);
  }
  void assign(const Operand& o, Type type, const std::string& expression,
              Width width = Width::kSame);

  // The host's address, as a u64, of [operand] in a space; "": generic. The instruction accesses
  // `bytes`. If the address is not a multiple of them, the kernel ends.
  std::string address(std::size_t index, std::string_view space, std::size_t bytes);

  // ---- Output ----

  void line(const std::string& text) { out_.append("  ").append(text).append("\n"); }
  void branch_to(std::string_view label);
  bool is_entry() const { return function_.is_entry; }
  const Module& module() const { return module_; }
  const Scopes& scopes() const { return scopes_; }
  Reached& reached() { return reached_; }

  [[noreturn]] void fail(const std::string& why) const;

 private:
  void statement(const BlockBegins&);
  void statement(const BlockEnds&);
  void statement(const Label& label);
  void statement(const Registers& registers);
  void statement(const Variable& variable);
  void statement(const BranchTargets& targets) { scopes_.declare(targets); }
  void statement(const Instruction& instruction);
  void check_all_taken() const;
  void count_executed(const std::string& guard);
  std::string_view column_of(std::string_view space, const Operand& o) const;
  std::string counted(std::string_view space, const Operand& o, const std::string& address) const;

  std::string number(const Operand& o, Type type) const;
  std::string named(const Operand& o, Type type, Width width);
  std::string symbol(std::string_view name, std::int64_t offset);
  std::string base_of(const Operand& o);
  std::string aligned(const std::string& address, std::size_t bytes);

  const Module& module_;
  const Function& function_;
  Reached& reached_;
  const std::vector<Statement> statements_;
  Scopes scopes_;
  std::string out_;

  std::size_t at_ = 0;  // the current statement
  const Instruction* instruction_ = nullptr;
  std::string form_;  // its number, where it is counted
  unsigned line_ = 0;
  std::vector<std::string_view> words_;
  std::vector<bool> operand_taken_;
};

}  // namespace softgpu::ptx
