// The statements of a function's body.
#include "softgpu/ptx/cursor.hpp"
#include "softgpu/ptx/parse.hpp"

namespace softgpu::ptx {

namespace {

class BodyParser {
 public:
  BodyParser(const Module& module, const Function& function)
      : at_(module.tokens, function.body, function.body_end) {}

  std::vector<Statement> parse() {
    while (!at_.at_end()) statement();
    if (depth_ != 0) at_.fail("'}' is wanted");
    return std::move(statements_);
  }

 private:
  void statement() {
    if (at_.accept(";")) return;
    if (at_.accept("{")) {
      ++depth_;
      statements_.push_back(BlockBegins{});
    } else if (at_.accept("}")) {
      --depth_;  // the body ends before its own brace
      statements_.push_back(BlockEnds{});
    } else if (at_.peek().kind == TokenKind::kWord && at_.peek(1).is(":")) {
      label();
    } else if (at_.accept(".reg")) {
      registers();
    } else if (at_.accept(".local")) {
      variable(Space::kLocal);
    } else if (at_.accept(".shared")) {
      variable(Space::kShared);
    } else if (at_.accept(".param")) {
      variable(Space::kParam);
    } else if (at_.accept(".pragma")) {
      at_.next();
      at_.expect(";");
    } else if (at_.accept(".loc")) {
      skip_location();
    } else {
      instruction();
    }
  }

  void label() {
    const Token& name = at_.next();
    at_.expect(":");
    if (!at_.accept(".branchtargets")) {
      statements_.push_back(Label{name.text, name.line});
      return;
    }
    BranchTargets targets{name.text, {}};
    do targets.labels.push_back(at_.word("a label"));
    while (at_.accept(","));
    at_.expect(";");
    statements_.push_back(std::move(targets));
  }

  // .loc file line column {, function_name label {+ n}, inlined_at file line column}
  void skip_location() {
    for (int i = 0; i < 3; ++i) at_.integer("a place in a source", ~0ull);
    while (at_.accept(",")) {
      at_.word("function_name or inlined_at");
      if (at_.peek().kind == TokenKind::kWord) at_.next();
      at_.accept("+");
      while (at_.peek().kind == TokenKind::kNumber) at_.next();
    }
  }

  void registers() {
    const Token& type = at_.next();
    if (type.kind != TokenKind::kWord || type.text.front() != '.' ||
        bytes_of_type(type.text.substr(1)) == 0) {
      throw PtxError(type.line,
                     "registers of a type that softgpu lacks: " + std::string(type.text));
    }
    do {
      Registers r{{}, type.text.substr(1), false, 1, at_.line()};
      r.name = at_.word("a register's name");
      if (at_.accept("<")) {
        r.is_range = true;
        r.count = at_.integer("a number of registers", kMostRegisters - registers_);
        registers_ += r.count;
        at_.expect(">");
      }
      statements_.push_back(r);
    } while (at_.accept(","));
    at_.expect(";");
  }

  void variable(Space space) {
    Variable v;
    v.line = at_.line();
    const Declarator d = parse_declarator(at_);
    v.name = d.name, v.space = space, v.bytes = d.bytes, v.align = d.align;
    if (d.is_unsized) at_.fail("a variable of a function needs a size before this");
    if (space != Space::kShared && d.bytes > kMostLocalBytes) {
      at_.fail("a variable on the stack is too large before this");
    }
    at_.expect(";");
    statements_.push_back(std::move(v));
  }

  // ---- Instructions ----

  void instruction() {
    Instruction i;
    i.line = at_.line();
    if (at_.accept("@")) {
      i.is_guard_negated = at_.accept("!");
      i.guard = at_.word("a predicate");
    }
    name(i);
    if (i.opcode == "call") {
      call(i);
    } else if (!at_.peek().is(";")) {
      do i.operands.push_back(operand());
      while (at_.accept(","));
    }
    at_.expect(";");
    statements_.push_back(std::move(i));
  }

  // "ld.global.u32" is an opcode and its words.
  void name(Instruction& i) {
    const std::string_view text = at_.word("an instruction");
    std::size_t begin = 0;
    for (bool is_first = true;; is_first = false) {
      const std::size_t end = std::min(text.find('.', begin), text.size());
      const std::string_view word = text.substr(begin, end - begin);
      if (word.empty()) {
        throw PtxError(i.line, "'" + std::string(text) + "' is no instruction");
      }
      if (is_first) {
        i.opcode = word;
      } else {
        i.words.push_back(word);
      }
      if (end == text.size()) return;
      begin = end + 1;
    }
  }

  // call (results), function, (arguments);
  void call(Instruction& i) {
    if (at_.accept("(")) {
      i.results = operands_until_parenthesis();
      at_.expect(",");
    }
    i.operands.push_back(operand());
    if (!at_.accept(",")) return;
    at_.expect("(");
    i.arguments = operands_until_parenthesis();
    // A prototype follows if the function is a register's.
    while (at_.accept(",")) i.operands.push_back(operand());
  }
  std::vector<Operand> operands_until_parenthesis() {
    std::vector<Operand> all;
    if (at_.accept(")")) return all;
    do all.push_back(operand());
    while (at_.accept(","));
    at_.expect(")");
    return all;
  }

  Operand operand() {
    if (at_.accept("{")) {
      Operand o;
      o.kind = Operand::kVector;
      do o.parts.push_back(simple());
      while (at_.accept(","));
      at_.expect("}");
      return o;
    }
    Operand o = simple();
    if (at_.accept("|")) o.beside.push_back(simple());
    return o;
  }

  Operand simple() {
    Operand o;
    if (at_.accept("[")) return address();
    o.is_negated = at_.accept("!");
    o.is_negative = at_.accept("-");
    const Token& token = at_.peek();
    o.text = token.text;
    if (token.kind == TokenKind::kNumber && !o.is_negated) {
      o.kind = Operand::kNumber;
      at_.next();
      return o;
    }
    if (token.kind != TokenKind::kWord || o.is_negative) at_.fail("an operand is wanted");
    o.kind = token.is("_") ? Operand::kSink : Operand::kName;
    at_.next();
    if (o.kind == Operand::kName) o.offset = offset();
    return o;
  }

  Operand address() {
    Operand o;
    o.kind = Operand::kAddress;
    const Token& base = at_.next();
    if (base.kind != TokenKind::kWord && base.kind != TokenKind::kNumber) {
      throw PtxError(base.line, "an address begins with a name or a number");
    }
    o.text = base.text;
    o.offset = offset();
    at_.expect("]");
    return o;
  }

  // +8, -8, +-8 or nothing
  std::int64_t offset() {
    bool is_negative = false;
    if (at_.accept("+")) {
      is_negative = at_.accept("-");
    } else if (at_.accept("-")) {
      is_negative = true;
    } else {
      return 0;
    }
    const auto value = static_cast<std::int64_t>(at_.integer("an offset", ~0ull >> 1));
    return is_negative ? -value : value;
  }

  static constexpr std::size_t kMostRegisters = 1u << 20;     // in ranges of one function
  static constexpr std::size_t kMostLocalBytes = 512u << 10;  // of a thread, on a GPU
  Cursor at_;
  int depth_ = 0;
  std::size_t registers_ = 0;
  std::vector<Statement> statements_;
};

}  // namespace

std::vector<Statement> parse_body(const Module& module, const Function& function) {
  return BodyParser(module, function).parse();
}

std::string_view line_of(std::string_view text, unsigned line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string form_of(const Instruction& instruction) {
  std::string form(instruction.opcode);
  for (std::string_view word : instruction.words) form.append(".").append(word);
  return form;
}

}  // namespace softgpu::ptx
