// A PTX text as words, numbers, marks and quoted texts.
#pragma once

#include <string_view>
#include <vector>

namespace softgpu::ptx {

enum class TokenKind { kWord, kNumber, kMark, kText, kEnd };

struct Token {
  TokenKind kind;
  unsigned line;          // from 1
  std::string_view text;  // a part of the text; for a kText the part within the quotes

  bool is(std::string_view s) const { return text == s && kind != TokenKind::kText; }
};

// Words keep their dots (".reg", "ld.global.u32", "%tid.x", "mbarrier::complete_tx"). The last
// token is a kEnd. `text` must outlive the tokens. Throws PtxError.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace softgpu::ptx
