#include "bootstrap/secret.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "bootstrap/bootstrap.hpp"

namespace chime::bootstrap {
namespace {

constexpr std::size_t kBlockBytes = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS
// 180-4, 4.2.2).
constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

std::uint32_t load_big_endian(const std::byte* p) {
  return std::to_integer<std::uint32_t>(p[0]) << 24 | std::to_integer<std::uint32_t>(p[1]) << 16 |
         std::to_integer<std::uint32_t>(p[2]) << 8 | std::to_integer<std::uint32_t>(p[3]);
}

std::array<std::uint32_t, 64> expand(const std::byte* block) {
  std::array<std::uint32_t, 64> w{};
  for (int i = 0; i < 16; i++) w[i] = load_big_endian(block + 4 * i);
  for (int i = 16; i < 64; i++) {
    auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  return w;
}

void compress(State& state, const std::byte* block) {
  auto w = expand(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; i++) {
    auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    auto t1 = h + s1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + w[i];
    auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State add = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; i++) state[i] += add[i];
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Digest sha256(std::span<const std::byte> message) {
  std::vector<std::byte> padded(message.begin(), message.end());
  padded.push_back(std::byte{0x80});
  while (padded.size() % kBlockBytes != kBlockBytes - 8) padded.push_back(std::byte{0});
  const std::uint64_t bits = message.size() * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(std::byte(bits >> shift & 0xff));

  State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (std::size_t at = 0; at < padded.size(); at += kBlockBytes) compress(state, &padded[at]);

  Digest digest;
  for (int i = 0; i < 32; i++) digest[i] = std::byte(state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
  return digest;
}

Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message) {
  std::array<std::byte, kBlockBytes> block{};
  if (key.size() > kBlockBytes) {
    auto digest = sha256(key);
    std::copy(digest.begin(), digest.end(), block.begin());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  std::vector<std::byte> inner, outer;
  for (auto b : block) inner.push_back(b ^ std::byte{0x36}), outer.push_back(b ^ std::byte{0x5c});
  inner.insert(inner.end(), message.begin(), message.end());
  auto digest = sha256(inner);
  outer.insert(outer.end(), digest.begin(), digest.end());
  return sha256(outer);
}

Token random_token() {
  Token token;
  ssize_t got;
  do got = getrandom(token.data(), token.size(), 0);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(token.size()))
    throw BootstrapError(std::string("getrandom: ") + std::strerror(errno));
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
  if (!good) throw BootstrapError(std::string(what) + " is not a token (64 hexadecimal digits)");
  return token;
}

}  // namespace chime::bootstrap
