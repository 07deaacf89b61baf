#include "text_file.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>

#include "sample.hpp"

namespace particles {

TextFile::TextFile(const std::string& path) : path_(path) {
  errno = 0;
  file_.reset(gzopen(path.c_str(), "rb"));
  if (!file_) throw InputError(path + ": cannot be opened: " + std::strerror(errno));
}

bool TextFile::next(std::string& line) {
  line.clear();
  char piece[4096];
  while (gzgets(file_.get(), piece, sizeof piece) != nullptr) {
    line += piece;
    if (line.back() != '\n') continue;
    line.pop_back();
    if (!line.empty() && line.back() == '\r') line.pop_back();
    ++line_number_;
    return true;
  }
  int error = Z_OK;
  const char* words = gzerror(file_.get(), &error);
  if (error != Z_OK && error != Z_STREAM_END) fail(std::string("cannot be read: ") + words);
  if (line.empty()) return false;
  ++line_number_;
  return true;
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
