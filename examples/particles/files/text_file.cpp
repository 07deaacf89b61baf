#include "files/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>

#include "system/sample.hpp"

namespace particles {

TextFile::TextFile(const std::string& path)
    : path_(path), phase_("reading " + path, 0, "lines"), buffer_(std::size_t{1} << 16) {
  errno = 0;
  file_.reset(gzopen(path.c_str(), "rb"));
  if (!file_) throw InputError(path + ": cannot be opened: " + std::strerror(errno));
  if (!fill()) throw InputError(path + ": is empty");
}

bool TextFile::next(std::string& line) {
  line.clear();
  const char* newline = nullptr;
  while (newline == nullptr) {
    if (unread_ == unread_end_ && !fill()) break;
    newline = static_cast<const char*>(
        std::memchr(unread_, '\n', static_cast<std::size_t>(unread_end_ - unread_)));
    const char* const end = newline != nullptr ? newline : unread_end_;
    line.append(unread_, end);
    unread_ = newline != nullptr ? newline + 1 : end;
  }
  if (newline == nullptr && line.empty()) return false;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  phase_.at(++line_number_);
  return true;
}

// False at the end of the file. Data that was read before a failure is used first.
bool TextFile::fill() {
  const int bytes = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
  int error = Z_OK;
  const char* const words = gzerror(file_.get(), &error);
  if (bytes <= 0 && error != Z_OK && error != Z_STREAM_END)
    fail(std::string("cannot be read: ") + (error == Z_ERRNO ? std::strerror(errno) : words));
  unread_ = buffer_.data();
  unread_end_ = unread_ + std::max(bytes, 0);
  require_text();
  bytes_before_ += unread_end_ - unread_;
  return bytes > 0;
}

// Checks all of the buffer: a picture's first bytes may look like a line.
void TextFile::require_text() const {
  const auto is_no_text = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && std::strchr("\t\n\r\f", c) == nullptr) || byte == 0 || byte == 0x7f;
  };
  const char* const found = std::find_if(unread_, unread_end_, is_no_text);
  if (found == unread_end_) return;
  throw InputError(
      fmt::format("{}: is no text: byte {:#04x} at offset {}; is it compressed (only gzip is "
                  "understood), an image, or another program's file?",
                  path_, static_cast<unsigned char>(*found), bytes_before_ + (found - unread_)));
}

std::string TextFile::require(const std::string& expected) {
  std::string line;
  if (!next(line)) fail("the file ends where " + expected + " should be");
  return line;
}

void TextFile::fail(const std::string& what) const {
  throw InputError(path_ + ":" + std::to_string(line_number_) + ": " + what);
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

double to_double(const TextFile& file, const std::string& word, const char* what) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0' || !std::isfinite(value)) {
    file.fail("'" + word + "' is not a number; expected " + what);
  }
  return value;
}

long long to_integer(const TextFile& file, const std::string& word, const char* what) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(word.c_str(), &end, 10);
  if (end == word.c_str() || *end != '\0' || errno == ERANGE) {
    file.fail("'" + word + "' is not a whole number; expected " + what);
  }
  return value;
}

int to_int(const TextFile& file, const std::string& word, const char* what) {
  const long long value = to_integer(file, word, what);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    file.fail("'" + word + "' is too large for " + what);
  return static_cast<int>(value);
}

}  // namespace particles
