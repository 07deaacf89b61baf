// Random secrets, and what is derived from one: proofs (HMAC, RFC 2104) and keys (HKDF, RFC 5869),
// both with SHA-256.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/secure/sha256.hpp"

namespace chime::net {

using Bytes = std::vector<std::byte>;
using Token = std::array<std::byte, 32>;

class Hmac {
 public:
  explicit Hmac(std::span<const std::byte> key);
  Hmac& add(std::span<const std::byte> bytes) {
    inner_.add(bytes);
    return *this;
  }
  // The object is used up.
  Digest finish();

 private:
  Sha256 inner_, outer_;
};

Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message);

// A key out of `input`, whatever its length and form; different for each salt.
Digest hkdf_extract(std::span<const std::byte> salt, std::span<const std::byte> input);
// At most 255 * 32 bytes out of an extracted key, for the purpose that `info` tells.
Bytes hkdf_expand(std::span<const std::byte> key, std::span<const std::byte> info,
                  std::size_t length);

// From the kernel's generator. Throws Error if it has none.
Token random_token();

// Takes the same time wherever the two differ.
bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b);

std::string to_hex(std::span<const std::byte> bytes);
// Throws Error, naming `what`, unless `hex` is exactly one token.
Token token_from_hex(std::string_view hex, std::string_view what);

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace chime::net
