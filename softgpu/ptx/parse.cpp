// Declarations of a PTX text.
#include "softgpu/ptx/parse.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "softgpu/ptx/cursor.hpp"

namespace softgpu::ptx {

namespace {

class ModuleParser {
 public:
  explicit ModuleParser(Module& module)
      : module_(module), at_(module.tokens, 0, module.tokens.size() - 1) {}

  void parse() {
    while (!at_.at_end()) directive();
  }

 private:
  void directive() {
    if (at_.accept(".version") || at_.accept(".address_size")) {
      at_.next();
    } else if (at_.accept(".target")) {
      do at_.word("a target");
      while (at_.accept(","));
    } else if (at_.accept(".file")) {
      skip_file();
    } else if (at_.accept(".section")) {
      at_.word("a section's name");
      at_.expect("{");
      at_.skip_block();
    } else if (!at_.accept(";")) {
      declaration();
    }
  }

  // .file 1 "name" {, time, size}
  void skip_file() {
    at_.integer("a file's number", ~0ull);
    if (at_.next().kind != TokenKind::kText) at_.fail("a file's name is wanted before this");
    while (at_.accept(",")) at_.integer("a file's time or size", ~0ull);
  }

  void declaration() {
    bool is_extern = false;
    for (;;) {
      if (at_.accept(".extern")) {
        is_extern = true;
      } else if (!at_.accept(".visible") && !at_.accept(".weak") && !at_.accept(".common")) {
        break;
      }
    }
    if (at_.accept(".global")) return variable(Space::kGlobal, is_extern);
    if (at_.accept(".const")) return variable(Space::kConst, is_extern);
    if (at_.accept(".shared")) return variable(Space::kShared, is_extern);
    if (at_.accept(".func")) return function(false);
    if (at_.accept(".entry")) return function(true);
    at_.fail("a directive that softgpu knows is wanted");
  }

  // ---- Variables ----

  void variable(Space space, bool is_extern) {
    Variable v;
    v.line = at_.line();
    const Declarator d = parse_declarator(at_);
    v.name = d.name, v.space = space, v.bytes = d.bytes, v.align = d.align;
    v.is_extern = is_extern;
    if (d.is_unsized && !(space == Space::kShared && is_extern)) {
      throw PtxError(v.line, "only extern shared variables may leave their size to the launch");
    }
    if (at_.accept("=")) {
      if (space == Space::kShared) at_.fail("a shared variable has no first value");
      initial(v, d);
    }
    at_.expect(";");
    if (module_.variable_index.contains(v.name)) {
      throw PtxError(v.line, "a second variable " + std::string(v.name));
    }
    module_.variable_index[v.name] = module_.variables.size();
    module_.variables.push_back(std::move(v));
  }

  void initial(Variable& v, const Declarator& d) {
    if (!at_.accept("{")) return element(v, d);
    for (int depth = 1; depth > 0;) {
      if (at_.accept("{")) {
        ++depth;
      } else if (at_.accept("}")) {
        --depth;
      } else if (!at_.accept(",")) {
        element(v, d);
      }
    }
  }

  void element(Variable& v, const Declarator& d) {
    const std::size_t offset = v.initial.size();
    if (offset + d.element > v.bytes) at_.fail("more first values than the variable has room for");
    std::uint64_t bits = 0;
    if (at_.peek().kind == TokenKind::kWord) {
      v.relocations.push_back(relocation(offset, d.element));
    } else {
      bits = number(d);
    }
    v.initial.resize(offset + d.element);
    std::memcpy(v.initial.data() + offset, &bits, d.element);
  }

  std::uint64_t number(const Declarator& d) {
    const bool is_negative = at_.accept("-");
    const Token& token = at_.peek();
    std::uint64_t bits = 0;
    std::size_t bytes = 0;
    if (token.kind != TokenKind::kNumber) at_.fail("a value is wanted");
    if (parse_float_bits(token.text, &bits, &bytes)) {
      if (bytes != d.element) at_.fail("the value's size is not the variable's");
      if (is_negative) bits ^= std::uint64_t{1} << (8 * bytes - 1);
    } else if (d.type == "f32" || d.type == "f64" || !parse_integer(token.text, &bits)) {
      at_.fail("a value of the variable's type is wanted");
    } else if (is_negative) {
      bits = 0 - bits;
    }
    at_.next();
    return bits;
  }

  // name, name+8, generic(name)+8
  Relocation relocation(std::size_t offset, std::size_t element) {
    if (element != 8) at_.fail("an address needs 8 bytes");
    std::string_view symbol = at_.word("a name");
    if (symbol == "generic") {
      at_.expect("(");
      symbol = at_.word("a name");
      at_.expect(")");
    }
    std::int64_t addend = 0;
    const bool is_negative = at_.peek().is("-");
    if (at_.accept("+") || at_.accept("-")) {
      addend = static_cast<std::int64_t>(at_.integer("an offset", kMostBytes));
      if (is_negative) addend = -addend;
    }
    return {offset, symbol, addend};
  }

  // ---- Functions ----

  void function(bool is_entry) {
    Function f;
    f.is_entry = is_entry;
    f.line = at_.line();
    if (at_.accept("(")) f.results = parameters(nullptr);
    f.name = at_.word("a function's name");
    if (at_.accept("(")) f.parameters = parameters(is_entry ? &f.param_bytes : nullptr);
    while (attribute(f)) {
    }
    if (at_.accept("{")) {
      f.has_body = true;
      f.body = at_.place();
      at_.skip_block();
      f.body_end = at_.place() - 1;
    } else {
      at_.expect(";");
    }
    add(std::move(f));
  }

  // A declaration and its later definition are one function.
  void add(Function f) {
    const auto [place, is_new] =
        module_.function_index.try_emplace(f.name, module_.functions.size());
    if (is_new) {
      module_.functions.push_back(std::move(f));
      return;
    }
    Function& known = module_.functions[place->second];
    if (known.has_body && f.has_body) {
      throw PtxError(f.line, "a second body of " + std::string(f.name));
    }
    if (f.has_body) known = std::move(f);
  }

  // After the parenthesis. With `bytes` it gives them offsets, for an entry.
  std::vector<Parameter> parameters(std::size_t* bytes) {
    std::vector<Parameter> all;
    if (at_.accept(")")) return all;
    do {
      if (!at_.accept(".param")) at_.fail("'.param' is wanted: softgpu passes no registers");
      const Declarator d = parse_declarator(at_);
      if (d.is_unsized) at_.fail("a parameter needs a size before this");
      Parameter p{d.name, d.bytes, d.align, 0};
      if (bytes) {
        p.offset = (*bytes + p.align - 1) / p.align * p.align;
        *bytes = p.offset + p.bytes;
        if (*bytes > kMostParamBytes) at_.fail("the parameters are too large before this");
      }
      all.push_back(p);
    } while (at_.accept(","));
    at_.expect(")");
    return all;
  }

  bool attribute(Function& f) {
    if (at_.accept(".noreturn")) return true;
    if (at_.accept(".maxntid") || at_.accept(".reqntid")) {
      std::uint64_t threads = 1;
      do threads *= at_.integer("a number of threads", 1024);
      while (at_.accept(",") && threads <= 1024);
      f.max_threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, 1024));
      return true;
    }
    if (at_.accept(".minnctapersm") || at_.accept(".maxnreg") || at_.accept(".maxnctapersm")) {
      at_.integer("a number", ~0u);
      return true;
    }
    if (at_.accept(".pragma")) {
      at_.next();
      at_.expect(";");
      return true;
    }
    return false;
  }

  static constexpr std::size_t kMostParamBytes = 32764;  // of sm_70 and newer
  Module& module_;
  Cursor at_;
};

}  // namespace

std::size_t bytes_of_type(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 16> kTypes{{{"pred", 1},
                                                                             {"b8", 1},
                                                                             {"u8", 1},
                                                                             {"s8", 1},
                                                                             {"b16", 2},
                                                                             {"u16", 2},
                                                                             {"s16", 2},
                                                                             {"f16", 2},
                                                                             {"b32", 4},
                                                                             {"u32", 4},
                                                                             {"s32", 4},
                                                                             {"f32", 4},
                                                                             {"b64", 8},
                                                                             {"u64", 8},
                                                                             {"s64", 8},
                                                                             {"f64", 8}}};
  for (const auto& [name, bytes] : kTypes) {
    if (name == type) return bytes;
  }
  return type == "bf16" ? 2 : 0;
}

bool parse_integer(std::string_view text, std::uint64_t* value) {
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  unsigned base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char c = text[1];
    base = c == 'x' || c == 'X' ? 16 : c == 'b' || c == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  if (text.empty()) return false;
  std::uint64_t v = 0;
  for (char c : text) {
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                           : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                  : 99u;
    if (digit >= base || __builtin_mul_overflow(v, base, &v) ||
        __builtin_add_overflow(v, digit, &v)) {
      return false;
    }
  }
  *value = v;
  return true;
}

bool parse_float_bits(std::string_view text, std::uint64_t* bits, std::size_t* bytes) {
  if (text.size() < 2 || text[0] != '0') return false;
  const char c = text[1];
  *bytes = c == 'f' || c == 'F' ? 4 : c == 'd' || c == 'D' ? 8 : 0;
  if (*bytes == 0 || text.size() != 2 + 2 * *bytes) return false;
  return parse_integer("0x" + std::string(text.substr(2)), bits);
}

Declarator parse_declarator(Cursor& at) {
  Declarator d;
  std::size_t lanes = 1, own_align = 1;
  while (at.peek().kind == TokenKind::kWord && at.peek().text.front() == '.') {
    const std::string_view word = at.next().text.substr(1);
    if (word == "align") {
      own_align = at.integer("an alignment", 4096);
      if (own_align == 0 || (own_align & (own_align - 1))) {
        at.fail("an alignment that is a power of two is wanted before this");
      }
    } else if (word == "v2" || word == "v4") {
      lanes = word == "v2" ? 2 : 4;
    } else if (word == "ptr") {  // the target and alignment of a parameter: hints
      for (const char* hint : {".global", ".const", ".shared", ".local"}) at.accept(hint);
      if (at.accept(".align")) at.integer("an alignment", ~0u);
    } else if (bytes_of_type(word) != 0 && word != "pred") {
      d.type = word;
    } else {
      at.fail("'." + std::string(word) + "' does not belong before this");
    }
  }
  if (d.type.empty()) at.fail("a type is wanted before this");
  d.element = bytes_of_type(d.type);
  d.name = at.word("a name");
  std::size_t count = lanes;
  while (at.accept("[")) {
    if (at.accept("]")) {
      d.is_unsized = true;
      continue;
    }
    count *= at.integer("a number of elements", kMostBytes);
    at.expect("]");
    if (count > kMostBytes) at.fail("the variable is too large before this");
  }
  d.bytes = d.is_unsized ? 0 : count * d.element;
  if (d.bytes > kMostBytes) at.fail("the variable is too large before this");
  d.align = std::max(own_align, d.element * lanes);
  return d;
}

namespace {

// nvcc's compiler names itself in the comments before the first directive; clang's text and
// hand-written text do not.
void refuse_what_nvcc_made(std::string_view text) {
  const std::string_view comments = text.substr(0, text.find("\n."));
  if (comments.find("NVIDIA NVVM Compiler") != comments.npos)
    throw PtxError(0,
                   "nvcc has made this text, and what it makes is not translated: compile the "
                   "source by clang (chime-cc)");
}

}  // namespace

std::unique_ptr<const Module> parse_module(std::string text) {
  refuse_what_nvcc_made(text);
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  module->tokens = tokens_of(module->text);
  ModuleParser(*module).parse();
  return module;
}

}  // namespace softgpu::ptx
