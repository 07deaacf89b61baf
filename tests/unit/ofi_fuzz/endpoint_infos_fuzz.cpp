// A peer's endpoint info: it is read completely, and is the same when it is written again, or it
// belongs to another version.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "host/errors/error.hpp"
#include "host/transport/ofi/endpoint_info.hpp"

namespace {

using namespace chime::host;

bool are_alike(const ofi::EndpointInfo& one, const ofi::EndpointInfo& other) {
  return one.why_none == other.why_none && one.provider == other.provider &&
         one.provider_version == other.provider_version &&
         one.address_format == other.address_format && one.address == other.address &&
         one.heap_bytes == other.heap_bytes && one.heap == other.heap && one.key == other.key &&
         one.raw_key == other.raw_key && one.pass == other.pass &&
         one.takes_puts == other.takes_puts && one.bounces == other.bounces &&
         one.has_pool == other.has_pool && one.pool == other.pool &&
         one.pool_key == other.pool_key && one.pool_raw_key == other.pool_raw_key;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMostEndpointInfoBytes) return 0;  // longer ones do not cross
  try {
    const ofi::EndpointInfo endpoint_info =
        ofi::read_endpoint_info(3, std::as_bytes(std::span(data, size)));
    if (endpoint_info.why_none.size() > kMostEndpointInfoBytes - 96)
      return 0;  // is cut off, which is allowed
    if (!are_alike(endpoint_info,
                   ofi::read_endpoint_info(3, ofi::write_endpoint_info(endpoint_info))))
      std::abort();
  } catch (const Error& error) {
    if (error.code() != CHIMEX_ERR_MISMATCH) std::abort();
  }
  return 0;
}
