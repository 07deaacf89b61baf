// SHA-256 (FIPS 180-4).
//
// Written out here because libchime.so must not depend on a cryptography library at link time, and
// one that is loaded if present would make the protocol depend on the machine. It authenticates
// short control messages: its speed, some hundred MB/s, is not felt there. Checked against the
// published vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace chime::net {

using Digest = std::array<std::byte, 32>;

class Sha256 {
 public:
  static constexpr std::size_t kBlockBytes = 64;

  Sha256& add(std::span<const std::byte> bytes);
  // The digest of all that was added. The object is used up.
  Digest finish();

 private:
  void compress(const std::byte* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlockBytes> block_{};  // begins with `added_ % kBlockBytes` bytes
  std::uint64_t added_ = 0;
};

Digest sha256(std::span<const std::byte> message);

}  // namespace chime::net
