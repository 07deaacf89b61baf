#include "repeated.hpp"

namespace chime::run {
namespace {

bool take_front(std::string_view& text, std::string_view front) {
  if (text.substr(0, front.size()) != front) return false;
  text.remove_prefix(front.size());
  return true;
}

}  // namespace

bool Repeated::is_left_out(int pe, std::string_view line) {
  if (!take_front(line, "chime: ")) return false;
  take_front(line, "PE " + std::to_string(pe) + ": ");
  const std::string text(line);
  if (said_.size() == kMostSentences && !was_said(text)) return false;
  Sentence& sentence = said_[text];
  if (++sentence.by_pe[pe] <= sentence.shown) {
    ++left_out_;
    return true;
  }
  ++sentence.shown;
  return false;
}

}  // namespace chime::run
