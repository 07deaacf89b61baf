// Waits end: a condition that does not come true within the deadline throws, and says what was
// waited for.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace direct {

constexpr std::chrono::seconds kDeadline{
    40};  // for a loaded machine and sanitizers; nothing depends on it

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
