#include "net/secure/seal.hpp"

#include "net/mesh/fields.hpp"

namespace chime::net {
namespace {

Digest tag_of(const Digest& key, std::uint64_t number, std::span<const std::byte> payload) {
  const auto length = static_cast<std::uint32_t>(payload.size() + kTagBytes);
  return Hmac(key)
      .add(std::as_bytes(std::span(&number, 1)))
      .add(std::as_bytes(std::span(&length, 1)))
      .add(payload)
      .finish();
}

}  // namespace

Bytes Sealer::seal(std::span<const std::byte> payload) {
  return Writer()
      .put(static_cast<std::uint32_t>(payload.size() + kTagBytes))
      .raw(payload)
      .raw(tag_of(key_, number_++, payload))
      .take();
}

Bytes Opener::open(Bytes body) {
  if (body.size() < kTagBytes) throw Error(Fault::kProtocol, "a frame without a tag");
  const std::size_t length = body.size() - kTagBytes;
  const auto payload = std::span(body).first(length);
  if (!equal_in_constant_time(std::span(body).subspan(length), tag_of(key_, number_, payload)))
    throw Error(Fault::kProtocol,
                "a frame that is not the other side's next: changed, repeated or "
                "out of order");
  number_++;
  body.resize(length);
  return body;
}

}  // namespace chime::net
