// The names of a function's body: registers, variables and labels of its nested blocks.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "softgpu/ptx/module.hpp"
#include "softgpu/ptx/types.hpp"

namespace softgpu::ptx {

struct LocalVariable {
  const Variable* variable;
  std::string cpp;
};

// A label of a block, and its position among the statements.
struct LabelPlace {
  std::string cpp;
  std::size_t statement;
};

class Scopes {
 public:
  // Labels may be used before their position: so this finds them first.
  explicit Scopes(const std::vector<Statement>& statements);

  void enter();
  void leave();

  void declare(const Registers& registers);
  const LocalVariable& declare(const Variable& variable);
  void declare(const BranchTargets& targets) { targets_[targets.name] = &targets; }

  // Without bytes: there is no such register here.
  Type register_type(std::string_view name) const;
  const LocalVariable* variable(std::string_view name) const;
  const LabelPlace* label(std::string_view name) const;
  const BranchTargets* targets(std::string_view name) const;

 private:
  struct Range {
    std::string_view prefix;
    Type type;
    std::size_t count;
  };
  struct Block {
    std::size_t number;
    std::unordered_map<std::string_view, Type> registers;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, LocalVariable> variables;
  };
  void find_labels(const std::vector<Statement>& statements);

  std::vector<Block> blocks_;
  std::size_t blocks_entered_ = 0, variables_declared_ = 0;
  std::map<std::pair<std::size_t, std::string_view>, LabelPlace> labels_;
  std::unordered_map<std::string_view, const BranchTargets*> targets_;
};

}  // namespace softgpu::ptx
