// Chime's messages that one PE after another says word for word, because all met the same: shown
// once.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace chime::run {

class Repeated {
 public:
  // Whether `line` of `pe`'s stderr says what others have said as often before. If so, it is left
  // out.
  bool is_left_out(int pe, std::string_view line);

  // Whether a PE said so in a line that was shown.
  bool was_said(const std::string& sentence) const { return said_.count(sentence) != 0; }

  // Lines left out so far.
  int count() const { return left_out_; }

 private:
  // Bounds memory where every line is another; further ones are shown.
  static constexpr std::size_t kMostSentences = 256;

  struct Sentence {
    int shown = 0;
    std::map<int, int> by_pe;  // how often each PE has said it
  };
  std::map<std::string, Sentence> said_;
  int left_out_ = 0;
};

}  // namespace chime::run
