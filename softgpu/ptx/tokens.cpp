#include "softgpu/ptx/tokens.hpp"

#include "softgpu/ptx/error.hpp"

namespace softgpu::ptx {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool begins_word(char c) { return is_letter(c) || c == '%' || c == '.'; }
bool is_mark(char c) {
  return std::string_view("{}()[]<>;,:=+-!|@&*/~?#").find(c) != std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Token> read() {
    tokens_.reserve(text_.size() / 5);
    while (skip_blanks()) token();
    tokens_.push_back({TokenKind::kEnd, line_, {}});
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // False at the end. A zero byte ends a text, as in C.
  bool skip_blanks() {
    while (at_ < text_.size() && text_[at_] != '\0') {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_, ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '/' && peek(1) == '*') {
        skip_comment();
      } else {
        return true;
      }
    }
    return false;
  }
  void skip_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) throw PtxError(line_, "a comment without an end");
    for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n';
  }

  void token() {
    const char c = peek();
    if (is_digit(c)) return number();
    if (begins_word(c)) return word();
    if (c == '"') return quoted();
    if (!is_mark(c)) {
      throw PtxError(line_, "a byte that PTX has no use for: " +
                                std::to_string(static_cast<unsigned char>(c)));
    }
    add(TokenKind::kMark, at_ + 1);
  }

  void word() {
    std::size_t end = at_ + 1;
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      if (is_letter(c) || is_digit(c) || c == '%' || c == '.') continue;
      // In ".shared::cta" the colons belong to the word; a label's colon is single.
      if (c == ':' && end + 2 < text_.size() && text_[end + 1] == ':' &&
          is_letter(text_[end + 2])) {
        ++end;
        continue;
      }
      break;
    }
    add(TokenKind::kWord, end);
  }

  // Also 0f3F800000, 1.5, 1e-3, 8U.
  void number() {
    std::size_t end = at_ + 1;
    const bool is_decimal = !(peek() == '0' && is_letter(peek(1)));
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      if (is_digit(c) || c == '.' || (is_letter(c) && c != '_' && c != '$')) continue;
      const char before = text_[end - 1];
      if ((c == '-' || c == '+') && is_decimal && (before == 'e' || before == 'E')) continue;
      break;
    }
    add(TokenKind::kNumber, end);
  }

  void quoted() {
    const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] == '\n') {
      throw PtxError(line_, "a text without its closing quote");
    }
    ++at_;
    add(TokenKind::kText, end);
    ++at_;
  }

  void add(TokenKind kind, std::size_t end) {
    tokens_.push_back({kind, line_, text_.substr(at_, end - at_)});
    at_ = end;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  unsigned line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Reader(text).read(); }

}  // namespace softgpu::ptx
