#include "host/transport/ofi/endpoint_info.hpp"

#include <fmt/format.h>

#include "host/errors/error.hpp"
#include "net/mesh/fields.hpp"

namespace chime::host::ofi {
namespace {

// Changes with the fields below, and with what peers send each other (requests/message.hpp).
constexpr std::uint32_t kVersion = 0x6f666904;
constexpr std::size_t kMostReasonBytes = kMostEndpointInfoBytes - 96;

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

[[noreturn]] void refuse_version(int pe) {
  throw Error("fabric", CHIMEX_ERR_MISMATCH,
              fmt::format("PE {} runs another version of Chime", pe));
}

}  // namespace

EndpointInfoBytes write_endpoint_info(const EndpointInfo& endpoint_info) {
  net::Writer fields;
  fields.put(kVersion)
      .text(endpoint_info.why_none.substr(0, kMostReasonBytes))
      .text(endpoint_info.provider);
  fields.put(endpoint_info.provider_version)
      .put(endpoint_info.address_format)
      .bytes(endpoint_info.address);
  fields.put(endpoint_info.heap_bytes)
      .put(endpoint_info.heap)
      .put(endpoint_info.key)
      .bytes(endpoint_info.raw_key)
      .put(endpoint_info.pass);
  fields.put<std::uint8_t>(endpoint_info.takes_puts).put<std::uint8_t>(endpoint_info.bounces);
  fields.put<std::uint8_t>(endpoint_info.has_pool)
      .put(endpoint_info.pool)
      .put(endpoint_info.pool_key)
      .bytes(endpoint_info.pool_raw_key);
  return fields.take();
}

EndpointInfo read_endpoint_info(int pe, std::span<const std::byte> bytes) try {
  net::Reader fields(bytes);
  if (fields.get<std::uint32_t>() != kVersion) refuse_version(pe);
  EndpointInfo endpoint_info;
  endpoint_info.why_none = fields.text();
  endpoint_info.provider = fields.text();
  endpoint_info.provider_version = fields.get<std::uint32_t>();
  endpoint_info.address_format = fields.get<std::uint32_t>();
  endpoint_info.address = copy_of(fields.bytes());
  endpoint_info.heap_bytes = fields.get<std::uint64_t>();
  endpoint_info.heap = fields.get<std::uint64_t>();
  endpoint_info.key = fields.get<std::uint64_t>();
  endpoint_info.raw_key = copy_of(fields.bytes());
  endpoint_info.pass = fields.get<std::uint64_t>();
  endpoint_info.takes_puts = fields.get<std::uint8_t>() != 0;
  endpoint_info.bounces = fields.get<std::uint8_t>() != 0;
  endpoint_info.has_pool = fields.get<std::uint8_t>() != 0;
  endpoint_info.pool = fields.get<std::uint64_t>();
  endpoint_info.pool_key = fields.get<std::uint64_t>();
  endpoint_info.pool_raw_key = copy_of(fields.bytes());
  if (!fields.rest().empty()) refuse_version(pe);
  return endpoint_info;
} catch (const net::Error&) {
  refuse_version(pe);
}

}  // namespace chime::host::ofi
