#include "host/transport/ofi/card.hpp"

#include <fmt/format.h>

#include "host/errors/error.hpp"
#include "net/mesh/fields.hpp"

namespace chime::host::ofi {
namespace {

// Changes with the fields below, and with what peers send each other (requests/message.hpp).
constexpr std::uint32_t kVersion = 0x6f666904;
constexpr std::size_t kMostReasonBytes = kMostCardBytes - 96;

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

[[noreturn]] void refuse_version(int pe) {
  throw Error("fabric", CHIMEX_ERR_MISMATCH,
              fmt::format("PE {} runs another version of Chime", pe));
}

}  // namespace

CardBytes write_card(const Card& card) {
  net::Writer fields;
  fields.put(kVersion).text(card.why_none.substr(0, kMostReasonBytes)).text(card.provider);
  fields.put(card.provider_version).put(card.address_format).bytes(card.address);
  fields.put(card.heap_bytes).put(card.heap).put(card.key).bytes(card.raw_key).put(card.pass);
  fields.put<std::uint8_t>(card.takes_puts).put<std::uint8_t>(card.bounces);
  fields.put<std::uint8_t>(card.has_pool)
      .put(card.pool)
      .put(card.pool_key)
      .bytes(card.pool_raw_key);
  return fields.take();
}

Card read_card(int pe, std::span<const std::byte> bytes) try {
  net::Reader fields(bytes);
  if (fields.get<std::uint32_t>() != kVersion) refuse_version(pe);
  Card card;
  card.why_none = fields.text();
  card.provider = fields.text();
  card.provider_version = fields.get<std::uint32_t>();
  card.address_format = fields.get<std::uint32_t>();
  card.address = copy_of(fields.bytes());
  card.heap_bytes = fields.get<std::uint64_t>();
  card.heap = fields.get<std::uint64_t>();
  card.key = fields.get<std::uint64_t>();
  card.raw_key = copy_of(fields.bytes());
  card.pass = fields.get<std::uint64_t>();
  card.takes_puts = fields.get<std::uint8_t>() != 0;
  card.bounces = fields.get<std::uint8_t>() != 0;
  card.has_pool = fields.get<std::uint8_t>() != 0;
  card.pool = fields.get<std::uint64_t>();
  card.pool_key = fields.get<std::uint64_t>();
  card.pool_raw_key = copy_of(fields.bytes());
  if (!fields.rest().empty()) refuse_version(pe);
  return card;
} catch (const net::Error&) {
  refuse_version(pe);
}

}  // namespace chime::host::ofi
