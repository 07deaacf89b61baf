// Memory as words of hexadecimal bytes, for comparisons that read like a dump.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "chime/abi/wqe.h"

namespace chime::tests {

inline std::string hex(const void* memory, std::size_t bytes) {
  static const char* const kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<const unsigned char*>(memory)[i];
    if (i != 0) text += i % 16 == 0 ? '\n' : ' ';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

template <class T>
std::string hex_of(const T& value) {
  return hex(&value, sizeof value);
}

// A work request of these segments, as it lies in the send queue.
inline std::string dump(std::initializer_list<abi::WqeSegment> segments) {
  const std::vector<abi::WqeSegment> wqe(segments);
  return hex(wqe.data(), wqe.size() * sizeof(abi::WqeSegment));
}

inline abi::InlineData inline_data(const std::string& bytes) {
  abi::InlineData data{};
  std::memcpy(data.word, bytes.data(), bytes.size());
  return data;
}

}  // namespace chime::tests
