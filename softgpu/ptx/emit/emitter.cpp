#include "softgpu/ptx/emit/emitter.hpp"

#include <algorithm>
#include <cstdlib>

#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/instructions.hpp"
#include "softgpu/ptx/names.hpp"
#include "softgpu/ptx/parse.hpp"

namespace softgpu::ptx {

namespace {

std::string hexadecimal(std::uint64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string plus(const std::string& base, std::int64_t offset) {
  if (offset == 0) return base;
  return "(" + base + " + " + hexadecimal(static_cast<std::uint64_t>(offset)) + "ull)";
}

}  // namespace

Emitter::Emitter(const Module& module, const Function& function, Reached& reached)
    : module_(module),
      function_(function),
      reached_(reached),
      statements_(parse_body(module, function)),
      scopes_(statements_) {}

std::string Emitter::body() {
  line("[[maybe_unused]] bool carry = false;");
  line("[[maybe_unused]] u32 turns = 0;");
  for (at_ = 0; at_ < statements_.size(); ++at_) {
    std::visit([this](const auto& s) { statement(s); }, statements_[at_]);
  }
  return std::move(out_);
}

// ---- Statements ------------------------------------------------------------------------------

void Emitter::statement(const BlockBegins&) {
  scopes_.enter();
  line("{");
}
void Emitter::statement(const BlockEnds&) {
  scopes_.leave();
  line("}");
}

void Emitter::statement(const Label& label) { line(scopes_.label(label.name)->cpp + ":;"); }

void Emitter::statement(const Registers& registers) {
  scopes_.declare(registers);
  if (registers.count == 0) return;
  std::string names;
  if (!registers.is_range) {
    names = register_name(registers.name);
  } else {
    for (std::size_t i = 0; i < registers.count; ++i) {
      names += (i ? ", " : "") + register_name(registers.name) + std::to_string(i);
    }
  }
  line(type_of(registers.type).reg() + " " + names + ";");
}

void Emitter::statement(const Variable& variable) {
  const LocalVariable& local = scopes_.declare(variable);
  if (variable.space == Space::kShared) {
    reached_.shared_variable(variable);
    return;
  }
  line("alignas(" + std::to_string(variable.align) + ") u8 " + local.cpp + "[" +
       std::to_string(std::max<std::size_t>(variable.bytes, 1)) + "];");
}

void Emitter::statement(const Instruction& instruction) {
  instruction_ = &instruction;
  line_ = instruction.line;
  words_ = instruction.words;
  operand_taken_.assign(instruction.operands.size(), false);
  const Emit emit = find_instruction(instruction.opcode, last_type());
  if (emit == nullptr) fail("softgpu does not know this instruction");
  const bool is_guarded = !instruction.guard.empty();
  std::string guard;
  if (is_guarded) {
    Operand predicate;
    predicate.kind = Operand::kName;
    predicate.text = instruction.guard;
    predicate.is_negated = instruction.is_guard_negated;
    guard = value(predicate, type_of(kPredicate));
  }
  if (reached_.forms) count_executed(guard);
  if (is_guarded) line("if (" + guard + ") {");
  emit(*this);
  if (is_guarded) line("}");
  check_all_taken();
}

// ---- Counting --------------------------------------------------------------------------------

void Emitter::count_executed(const std::string& guard) {
  form_ = std::to_string(reached_.forms->number_of(form_of(*instruction_)));
  const std::string column =
      guard.empty() ? "Column::kExecuted" : guard + " ? Column::kExecuted : Column::kOff";
  line("count(e, " + form_ + ", " + column + ");");
}

// Empty: a global or generic address decides when the code runs.
std::string_view Emitter::column_of(std::string_view space, const Operand& o) const {
  if (space == "const") return "kConst";
  if (space == "local") return "kLocal";
  if (space == "shared") return "kShared";
  if (space != "param") return {};
  return is_entry() && scopes_.variable(o.text) == nullptr ? "kParam" : "kPassed";
}

// The address, and with it the kind of memory that the instruction accesses.
std::string Emitter::counted(std::string_view space, const Operand& o,
                             const std::string& address) const {
  if (!reached_.forms) return address;
  const std::string_view column = column_of(space, o);
  if (column.empty()) return "counted_where_it_is(e, " + form_ + ", " + address + ")";
  return "counted(e, " + form_ + ", Column::" + std::string(column) + ", " + address + ")";
}

void Emitter::check_all_taken() const {
  if (!words_.empty()) {
    fail("softgpu does not know '." + std::string(words_.front()) + "' of this instruction");
  }
  for (bool taken : operand_taken_) {
    if (!taken) fail("an operand too many");
  }
}

void Emitter::fail(const std::string& why) const {
  throw PtxError(line_, why + ": " + std::string(line_of(module_.text, line_)));
}

// ---- Words -----------------------------------------------------------------------------------

bool Emitter::take(std::string_view word) {
  const auto found = std::find(words_.begin(), words_.end(), word);
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

std::string_view Emitter::take_one_of(std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) {
    if (take(word)) return word;
  }
  return {};
}

bool Emitter::take_prefixed(std::string_view prefix) {
  const auto found = std::find_if(words_.begin(), words_.end(),
                                  [&](std::string_view word) { return word.starts_with(prefix); });
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

Type Emitter::last_type() const { return words_.empty() ? Type{} : type_of(words_.back()); }

Type Emitter::take_type() {
  const Type type = last_type();
  if (type.bytes == 0) fail("the instruction lacks a type that softgpu knows");
  words_.pop_back();
  return type;
}

// ---- Operands --------------------------------------------------------------------------------

const Operand& Emitter::operand(std::size_t index) {
  if (index >= instruction_->operands.size()) fail("the instruction lacks an operand");
  operand_taken_[index] = true;
  return instruction_->operands[index];
}

std::string Emitter::value(const Operand& o, Type type, Width width) {
  if (o.is_negated && !type.is_predicate()) fail("only a predicate may be negated");
  if (!o.beside.empty()) fail("'|' does not belong here");
  switch (o.kind) {
    case Operand::kName:
      return named(o, type, width);
    case Operand::kNumber:
      return number(o, type);
    default:
      fail("an operand is no value");
  }
}

std::string Emitter::named(const Operand& o, Type type, Width width) {
  Type have = scopes_.register_type(o.text);
  std::string text = register_name(o.text);
  if (have.bytes == 0) {
    const SpecialRegister special = special_register(o.text);
    if (special.expression.empty()) {
      if (type.bytes != 8 && type.bytes != 4) fail("an address has 4 or 8 bytes");
      return type.cpp() + "(" + symbol(o.text, o.offset) + ")";
    }
    have = type_of(special.type);
    text = special.expression;
    width = Width::kWider;
  }
  if (o.offset != 0) fail("a register has no offset here");
  if (type.is_predicate() != have.is_predicate()) fail("a predicate and a number are confused");
  if (type.is_predicate()) return (o.is_negated ? "!" : "") + text;
  if (have.bytes < type.bytes || (width == Width::kSame && have.bytes != type.bytes)) {
    fail("register " + std::string(o.text) + " is not of the instruction's size");
  }
  if (type.cpp() == have.reg()) return text;
  const bool is_cast = !type.is_float() && !have.is_float();
  return (is_cast ? type.cpp() : "as<" + type.cpp() + ">") + "(" + text + ")";
}

std::string Emitter::number(const Operand& o, Type type) const {
  std::uint64_t bits = 0;
  std::size_t bytes = 0;
  const std::string text(o.text);
  if (parse_float_bits(text, &bits, &bytes)) {
    if (bytes != type.bytes || type.is_signed()) fail("a number is not of the instruction's type");
    if (o.is_negative) bits ^= std::uint64_t{1} << (8 * bytes - 1);
    return type.is_float()
               ? "as<" + type.cpp() + ">(" + type.word() + "(" + hexadecimal(bits) + "))"
               : type.word() + "(" + hexadecimal(bits) + "ull)";
  }
  if (type.is_float()) {
    char* end = nullptr;
    std::strtod(text.c_str(), &end);
    if (type.is_half() || *end != '\0' || text.find_first_of(".eE") == std::string::npos) {
      fail("a number is not of the instruction's type");
    }
    return type.cpp() + "(" + (o.is_negative ? "-" : "") + text + ")";
  }
  if (!parse_integer(text, &bits)) fail("'" + text + "' is no number of this type");
  if (o.is_negative) bits = 0 - bits;
  if (type.is_predicate()) return bits ? "true" : "false";
  return type.cpp() + "(" + hexadecimal(bits) + "ull)";
}

// The address of a name: the host's, or in shared memory its own.
std::string Emitter::symbol(std::string_view name, std::int64_t offset) {
  if (const LocalVariable* local = scopes_.variable(name)) {
    const Variable& v = *local->variable;
    if (v.space == Space::kShared) return plus(reached_.shared_variable(v), offset);
    return plus("address_of(" + local->cpp + ")", offset);
  }
  std::size_t number = 0;
  for (const auto* list : {&function_.results, &function_.parameters}) {
    for (const Parameter& p : *list) {
      const std::string cpp = parameter_name(number++);
      if (p.name != name) continue;
      if (!function_.is_entry) return plus("address_of(" + cpp + ")", offset);
      return plus("address_of(e.parameters)", static_cast<std::int64_t>(p.offset) + offset);
    }
  }
  const Variable* v = module_.find_variable(name);
  if (v == nullptr) fail("'" + std::string(name) + "' is declared nowhere");
  if (v->space == Space::kShared) return plus(reached_.shared_variable(*v), offset);
  if (v->is_extern) fail("'" + std::string(name) + "' is of another module");
  return plus("address_of(" + reached_.variable(*v) + ")", offset);
}

void Emitter::assign(const Operand& o, Type type, const std::string& expression, Width width) {
  if (!o.beside.empty()) fail("'|' does not belong here");
  if (o.kind == Operand::kSink) return line("static_cast<void>(" + expression + ");");
  const Type have = o.kind == Operand::kName ? scopes_.register_type(o.text) : Type{};
  if (have.bytes == 0 || o.offset != 0 || o.is_negated) fail("a register is wanted for the result");
  if (type.is_predicate() != have.is_predicate()) fail("a predicate and a number are confused");
  if (have.bytes < type.bytes || (width == Width::kSame && have.bytes != type.bytes)) {
    fail("register " + std::string(o.text) + " is not of the instruction's size");
  }
  const std::string name = register_name(o.text);
  if (type.is_predicate()) return line(name + " = " + expression + ";");
  if (type.cpp() == have.reg()) return line(name + " = " + type.cpp() + "(" + expression + ");");
  line(name + " = word<" + have.reg() + ">(" + type.cpp() + "(" + expression + "));");
}

std::string Emitter::base_of(const Operand& o) {
  std::uint64_t number = 0;
  if (parse_integer(o.text, &number)) return "u64(" + hexadecimal(number) + "ull)";
  const Type have = scopes_.register_type(o.text);
  if (have.bytes == 0) return symbol(o.text, 0);
  if (have.is_predicate() || have.is_float() || have.bytes < 4) fail("an address is no such word");
  return have.bytes == 8 ? register_name(o.text) : "u64(" + register_name(o.text) + ")";
}

// The code has the function's name and the instruction's number in it, not its line: functions that
// differ only in their position share one source.
std::string Emitter::aligned(const std::string& address, std::size_t bytes) {
  const std::size_t site = reached_.site_lines.size();
  reached_.site_lines.push_back(line_);
  return "aligned<" + std::to_string(bytes) + ">(e, __func__, " + std::to_string(site) + ", " +
         address + ")";
}

std::string Emitter::address(std::size_t index, std::string_view space, std::size_t bytes) {
  const Operand& o = operand(index);
  if (o.kind != Operand::kAddress) fail("an address is wanted");
  std::string text = plus(base_of(o), o.offset);
  if (space != "param" && bytes > 1) text = aligned(text, bytes);
  if (space != "shared") return counted(space, o, text);
  return counted(space, o, "shared_address<" + std::to_string(bytes) + ">(e, " + text + ")");
}

void Emitter::branch_to(std::string_view name) {
  const LabelPlace* label = scopes_.label(name);
  if (label == nullptr) fail("there is no label '" + std::string(name) + "' here");
  if (label->statement <= at_) line("back_edge(&turns);");
  line("goto " + label->cpp + ";");
}

}  // namespace softgpu::ptx
