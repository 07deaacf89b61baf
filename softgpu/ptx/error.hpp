// An error in a PTX text, and its line.
#pragma once

#include <stdexcept>
#include <string>

namespace softgpu {

// A text that cannot be read, or an instruction that cannot be translated. `line` counts from 1; 0:
// no line.
class PtxError : public std::runtime_error {
 public:
  PtxError(unsigned line, const std::string& what)
      : std::runtime_error(line ? "PTX line " + std::to_string(line) + ": " + what
                                : "PTX: " + what),
        line_(line) {}
  unsigned line() const { return line_; }

 private:
  unsigned line_;
};

}  // namespace softgpu
