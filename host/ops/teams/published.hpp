// What members of a team that is to be made tell each other by the bootstrap: values of 64-bit
// words.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "host/settings/env.hpp"

namespace chime::host {

inline bootstrap::Bytes bytes_of(const std::vector<std::uint64_t>& words) {
  bootstrap::Bytes value(words.size() * sizeof(std::uint64_t));
  std::memcpy(value.data(), words.data(), value.size());
  return value;
}
inline std::vector<std::uint64_t> words_in(const bootstrap::Bytes& value) {
  std::vector<std::uint64_t> words(value.size() / sizeof(std::uint64_t));
  std::memcpy(words.data(), value.data(), words.size() * sizeof(std::uint64_t));
  return words;
}

// For how long a member waits for the others that it asks.
inline std::chrono::nanoseconds members_limit(const Settings& settings) {
  const std::uint64_t limit_ns = settings.wait_timeout_ns;
  return limit_ns == 0 ? std::chrono::hours(24 * 365) : std::chrono::nanoseconds(limit_ns);
}
// How much longer it waits for the one that asks all: that one may have begun later, and ends by
// its own limit.
inline constexpr std::chrono::seconds kAskerIsLater{2};

}  // namespace chime::host
