// Waits end: if the condition is still false at the deadline, the wait throws and says what it
// waited for.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace direct {

// For a loaded machine and sanitizers; no test depends on its length.
constexpr std::chrono::seconds kDeadline{40};

template <class Condition>
void wait_until(const std::string& what, Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("waited in vain for " + what);
    std::this_thread::yield();
  }
}

}  // namespace direct
