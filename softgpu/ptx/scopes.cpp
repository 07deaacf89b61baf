#include "softgpu/ptx/scopes.hpp"

#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/names.hpp"
#include "softgpu/ptx/parse.hpp"

namespace softgpu::ptx {

Type type_of(std::string_view name) { return {name, bytes_of_type(name)}; }

Type unsigned_of(std::size_t bytes) {
  return type_of(bytes == 8 ? "u64" : bytes == 4 ? "u32" : bytes == 2 ? "u16" : "u8");
}

Scopes::Scopes(const std::vector<Statement>& statements) {
  blocks_.push_back({0, {}, {}, {}});
  find_labels(statements);
}

// Blocks get their numbers in the order of their braces, here and in enter().
void Scopes::find_labels(const std::vector<Statement>& statements) {
  std::vector<std::size_t> open{0};
  std::size_t count = 0;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (std::holds_alternative<BlockBegins>(statements[i])) {
      open.push_back(++count);
    } else if (std::holds_alternative<BlockEnds>(statements[i])) {
      open.pop_back();
    } else if (const auto* label = std::get_if<Label>(&statements[i])) {
      const std::string cpp = label_name(labels_.size());
      if (!labels_.try_emplace({open.back(), label->name}, LabelPlace{cpp, i}).second) {
        throw PtxError(label->line, "a second label " + std::string(label->name));
      }
    }
  }
}

void Scopes::enter() { blocks_.push_back({++blocks_entered_, {}, {}, {}}); }
void Scopes::leave() { blocks_.pop_back(); }

void Scopes::declare(const Registers& registers) {
  const Type type = type_of(registers.type);
  if (registers.is_range) {
    blocks_.back().ranges.push_back({registers.name, type, registers.count});
  } else {
    blocks_.back().registers[registers.name] = type;
  }
}

const LocalVariable& Scopes::declare(const Variable& variable) {
  return blocks_.back().variables[variable.name] = {&variable, local_name(variables_declared_++)};
}

Type Scopes::register_type(std::string_view name) const {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  std::uint64_t number = 0;
  const bool may_be_of_range = digits < name.size() && digits > 0 &&
                               (name[digits] != '0' || digits + 1 == name.size()) &&
                               name.size() - digits < 8;
  for (std::size_t i = digits; may_be_of_range && i < name.size(); ++i) {
    number = number * 10 + static_cast<std::uint64_t>(name[i] - '0');
  }
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if (const auto found = block->registers.find(name); found != block->registers.end()) {
      return found->second;
    }
    if (!may_be_of_range) continue;
    for (const Range& range : block->ranges) {
      if (range.prefix == name.substr(0, digits) && number < range.count) return range.type;
    }
  }
  return {};
}

const LocalVariable* Scopes::variable(std::string_view name) const {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if (const auto found = block->variables.find(name); found != block->variables.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

const LabelPlace* Scopes::label(std::string_view name) const {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if (const auto found = labels_.find({block->number, name}); found != labels_.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

const BranchTargets* Scopes::targets(std::string_view name) const {
  const auto found = targets_.find(name);
  return found == targets_.end() ? nullptr : found->second;
}

}  // namespace softgpu::ptx
