#include "net/mesh/frame.hpp"

#include <cstdint>
#include <cstring>

#include "net/mesh/fields.hpp"

namespace chime::net {

std::optional<Bytes> FrameCutter::next(std::size_t limit) {
  const auto rest = std::span(bytes_).subspan(begin_);
  std::uint32_t length;
  if (rest.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, rest.data(), sizeof length);
  if (length == 0 || length > limit)
    throw Error(Fault::kProtocol, "a frame of " + std::to_string(length) + " bytes where 1 to " +
                                      std::to_string(limit) + " are allowed");
  if (rest.size() - sizeof length < length) return std::nullopt;
  const auto body = rest.subspan(sizeof length, length);
  Bytes frame(body.begin(), body.end());
  begin_ += sizeof length + length;
  // Moves what is left only when that is less than what was given away: each byte moves once.
  if (begin_ > bytes_.size() / 2) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  return frame;
}

Bytes framed(std::span<const std::byte> body) { return Writer().bytes(body).take(); }

}  // namespace chime::net
