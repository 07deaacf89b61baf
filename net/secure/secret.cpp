#include "net/secure/secret.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "net/socket/error.hpp"

namespace chime::net {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Hmac::Hmac(std::span<const std::byte> key) {
  const Digest digest = key.size() > Sha256::kBlockBytes ? sha256(key) : Digest{};
  if (key.size() > Sha256::kBlockBytes) key = digest;
  std::array<std::byte, Sha256::kBlockBytes> inner, outer;
  inner.fill(std::byte{0x36});
  outer.fill(std::byte{0x5c});
  for (std::size_t i = 0; i < key.size(); i++) inner[i] ^= key[i], outer[i] ^= key[i];
  inner_.add(inner);
  outer_.add(outer);
}

Digest Hmac::finish() { return outer_.add(inner_.finish()).finish(); }

Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message) {
  return Hmac(key).add(message).finish();
}

Digest hkdf_extract(std::span<const std::byte> salt, std::span<const std::byte> input) {
  return hmac_sha256(salt, input);
}

Bytes hkdf_expand(std::span<const std::byte> key, std::span<const std::byte> info,
                  std::size_t length) {
  Bytes output;
  Digest block{};
  for (unsigned counter = 1; output.size() < length; counter++) {
    const std::byte number{static_cast<unsigned char>(counter)};
    Hmac next(key);
    if (counter > 1) next.add(block);
    block = next.add(info).add({&number, 1}).finish();
    output.insert(output.end(), block.begin(), block.end());
  }
  output.resize(length);
  return output;
}

Token random_token() {
  Token token;
  ssize_t got;
  do got = getrandom(token.data(), token.size(), 0);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(token.size())) throw system_error("getrandom");
  return token;
}

bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != b.size()) return false;
  std::byte difference{0};
  for (std::size_t i = 0; i < a.size(); i++) difference |= a[i] ^ b[i];
  return difference == std::byte{0};
}

std::string to_hex(std::span<const std::byte> bytes) {
  std::string hex;
  for (auto b : bytes) {
    hex += "0123456789abcdef"[std::to_integer<int>(b >> 4)];
    hex += "0123456789abcdef"[std::to_integer<int>(b & std::byte{15})];
  }
  return hex;
}

Token token_from_hex(std::string_view hex, std::string_view what) {
  Token token;
  bool good = hex.size() == 2 * token.size();
  for (std::size_t i = 0; good && i < token.size(); i++) {
    int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
    good = high >= 0 && low >= 0;
    token[i] = std::byte(high << 4 | low);
  }
  if (!good)
    throw Error(Fault::kProtocol, std::string(what) + " is not a token (64 hexadecimal digits)");
  return token;
}

}  // namespace chime::net
