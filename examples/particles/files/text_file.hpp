// A text file read line by line, plain or compressed by gzip, that knows where it is for error
// messages.
#pragma once

#include <zlib.h>

#include <memory>
#include <string>
#include <vector>

#include "files/progress.hpp"

namespace particles {

class TextFile {
 public:
  // Throws InputError if the file cannot be opened, or is empty.
  explicit TextFile(const std::string& path);

  // Reads the next line, without its end; false at the end of the file. Throws InputError if it
  // holds bytes that no text has.
  bool next(std::string& line);

  // Reads the next line, which must be there; `expected` says what it is for.
  std::string require(const std::string& expected);

  // Throws InputError: "file:line: what".
  [[noreturn]] void fail(const std::string& what) const;

  int line_number() const { return line_number_; }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  bool fill();
  void require_text() const;

  std::string path_;
  Phase phase_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::vector<char> buffer_;
  const char *unread_ = nullptr, *unread_end_ = nullptr;  // in the buffer
  std::int64_t bytes_before_ = 0;                         // the buffer, unpacked
  int line_number_ = 0;
};

// The words of `line`, without a comment that starts with '#'.
std::vector<std::string> words_of(const std::string& line);

// A whole word as a number; fails at the file's current line, naming the word and what it should
// be.
double to_double(const TextFile& file, const std::string& word, const char* what);
int to_int(const TextFile& file, const std::string& word, const char* what);
long long to_integer(const TextFile& file, const std::string& word, const char* what);

}  // namespace particles
