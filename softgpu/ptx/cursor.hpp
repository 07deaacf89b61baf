// A position in a list of tokens, from which a parser takes one after another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "softgpu/ptx/error.hpp"
#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/tokens.hpp"

namespace softgpu::ptx {

class Cursor {
 public:
  // The tokens [begin, end), followed by a kEnd.
  Cursor(const std::vector<Token>& tokens, std::size_t begin, std::size_t end)
      : tokens_(tokens), at_(begin), end_(end) {}

  std::size_t place() const { return at_; }
  bool at_end() const { return at_ >= end_; }
  unsigned line() const { return peek().line; }

  const Token& peek(std::size_t ahead = 0) const {
    return at_ + ahead < end_ ? tokens_[at_ + ahead] : tokens_.back();
  }
  const Token& next() {
    const Token& token = peek();
    if (at_ < end_) ++at_;
    return token;
  }
  bool accept(std::string_view s) {
    if (!peek().is(s)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view s) {
    if (!accept(s)) fail("'" + std::string(s) + "' is wanted");
  }

  std::string_view word(const char* what) {
    if (peek().kind != TokenKind::kWord) fail(std::string(what).append(" is wanted"));
    return next().text;
  }
  std::uint64_t integer(const char* what, std::uint64_t most) {
    std::uint64_t value = 0;
    if (peek().kind != TokenKind::kNumber || !parse_integer(peek().text, &value)) {
      fail(std::string(what) + " is wanted, an integer");
    }
    if (value > most) fail(std::string(what) + " is too large");
    next();
    return value;
  }

  // Moves past the brace that closes the one that was just taken.
  void skip_block() {
    const unsigned opened = line_before();
    for (int depth = 1; depth > 0;) {
      if (at_end()) throw PtxError(opened, "a '{' without its '}'");
      const Token& token = next();
      depth += token.is("{") ? 1 : token.is("}") ? -1 : 0;
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    const Token& token = peek();
    if (at_end()) throw PtxError(line_before(), why + ", and there is the end");
    throw PtxError(token.line, why + ", and there is '" + std::string(token.text) + "'");
  }

 private:
  // The line of the last token.
  unsigned line_before() const { return at_ > 0 ? tokens_[at_ - 1].line : 1; }

  const std::vector<Token>& tokens_;
  std::size_t at_;
  const std::size_t end_;
};

// The rest of a variable or parameter after its state space: ".align 8 .b8 name[280]".
struct Declarator {
  std::string_view name, type;
  std::size_t element = 1, bytes = 0, align = 1;
  bool is_unsized = false;  // name[]
};
Declarator parse_declarator(Cursor& at);

inline constexpr std::size_t kMostBytes = std::size_t{1} << 32;  // of one variable

}  // namespace softgpu::ptx
