// A stream of bytes as frames:  | u32 length | body |, the length that of the body.
#pragma once

#include <optional>

#include "net/secure/secret.hpp"

namespace chime::net {

// Cuts what comes from a stream into frames. Keeps no more than what has come: a length that a peer
// announces allocates nothing.
class FrameCutter {
 public:
  void add(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  // The body of the next frame, when all of it is there. Throws Error{kProtocol} as soon as a frame
  // announces more than `limit` bytes, or none.
  std::optional<Bytes> next(std::size_t limit);

  // Bytes that have come and were not given away.
  std::size_t waiting_bytes() const { return bytes_.size() - begin_; }

 private:
  Bytes bytes_;
  std::size_t begin_ = 0;  // what lies before it has been given away
};

// `body` as a frame.
Bytes framed(std::span<const std::byte> body);

}  // namespace chime::net
