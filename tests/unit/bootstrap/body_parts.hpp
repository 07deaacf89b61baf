// The parts of bodies.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "bodies.hpp"

namespace chime::bootstrap::test {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

inline Deadline soon() { return Clock::now() + 30s; }

inline void check(bool good, const std::string& what) {
  if (!good) throw Failure(what);
}

inline void check_mentions(const std::string& text, const std::string& word) {
  check(text.find(word) != std::string::npos, "'" + text + "' does not mention '" + word + "'");
}

inline Bytes bytes_of(const std::string& text) {
  auto raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

inline std::string endpoint_info_of(int pe) { return "endpoint info of PE " + std::to_string(pe); }

// Returns the message and the code of the error that `call` throws; fails if it throws none.
template <class Call>
std::string error_of(Call call, int* code = nullptr) {
  try {
    call();
  } catch (const BootstrapError& e) {
    if (code) *code = e.code();
    return e.what();
  }
  throw Failure("no error where one is due");
}

template <class Call>
Clock::duration time_of(Call call) {
  const auto begin = Clock::now();
  call();
  return Clock::now() - begin;
}

}  // namespace chime::bootstrap::test
