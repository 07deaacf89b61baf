// A fingerprint of a text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace softgpu {

inline std::uint64_t fnv(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// 128 bits of it, as 32 letters.
inline std::string fingerprint(std::string_view text) {
  char letters[36];
  std::snprintf(letters, sizeof letters, "%016llx%016llx",
                static_cast<unsigned long long>(fnv(text, 0xcbf29ce484222325u)),
                static_cast<unsigned long long>(fnv(text, 0x9ae16a3b2f90404fu) * 31 + text.size()));
  return letters;
}

}  // namespace softgpu
