// A line on stderr for who waits for a program's first launches: kernels are compiled then.
#pragma once

#include <chrono>
#include <string>

namespace softgpu {

// Counts the time for which this process's launches wait for a compiler. When they have waited for
// two seconds together, says so, and where compiled code is kept; once, and in the job's first
// process alone.
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
