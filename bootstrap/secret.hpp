// Random tokens, and proof of knowing one without showing it: HMAC-SHA-256 (RFC 2104, FIPS 180-4).
//
// Written out here because libchime.so must not depend on a cryptography library at link time;
// checked against the vectors of RFC 4231 and FIPS 180-4.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chime::bootstrap {

using Digest = std::array<std::byte, 32>;
using Token = std::array<std::byte, 32>;

Digest sha256(std::span<const std::byte> message);
Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message);

// From the kernel's generator. Throws BootstrapError if it has none.
Token random_token();

// Takes the same time wherever the two differ.
bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b);

std::string to_hex(std::span<const std::byte> bytes);
// Throws BootstrapError, naming `what`, unless `hex` is exactly one token.
Token token_from_hex(std::string_view hex, std::string_view what);

}  // namespace chime::bootstrap
