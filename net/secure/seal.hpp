// One direction of an authenticated connection: frames that the other side can tell from forged,
// changed, repeated, left out, reordered and reflected ones.
//
//   | u32 length | payload | tag, 32 bytes |      tag = HMAC(key, u64 number | u32 length |
//   payload)
//
// The number counts the direction's frames from 0 and does not travel. Not encrypted.
#pragma once

#include <cstdint>

#include "net/secure/secret.hpp"

namespace chime::net {

inline constexpr std::size_t kTagBytes = sizeof(Digest);

class Sealer {
 public:
  explicit Sealer(const Digest& key) : key_(key) {}

  // `payload` as the direction's next frame, its length included.
  Bytes seal(std::span<const std::byte> payload);

 private:
  Digest key_;
  std::uint64_t number_ = 0;
};

class Opener {
 public:
  explicit Opener(const Digest& key) : key_(key) {}

  // The payload of the direction's next frame, of which `body` is all but the length. Throws
  // Error{kProtocol} unless the other side's Sealer made it, and made it next.
  Bytes open(Bytes body);

 private:
  Digest key_;
  std::uint64_t number_ = 0;
};

}  // namespace chime::net
