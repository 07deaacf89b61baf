// A line on stderr for users that wait for a program's first launches, which compile the kernels.
#pragma once

#include <chrono>
#include <string>

namespace softgpu {

// Counts the time for which this process's launches wait for a compiler. After two seconds in total
// it prints that, and where compiled code is kept: once, and only in the job's first process.
class CompilerWait {
 public:
  explicit CompilerWait(const std::string& folder) : folder_(folder) {}
  CompilerWait(const CompilerWait&) = delete;

  // Sleeps for a moment.
  void nap();

 private:
  const std::string& folder_;
  std::chrono::steady_clock::time_point counted_ = std::chrono::steady_clock::now();
};

}  // namespace softgpu
