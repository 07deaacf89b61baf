// A PE's endpoint info crosses whole, and invalid bytes are refused.
#include "host/transport/ofi/endpoint_info.hpp"

#include <gmock/gmock.h>

#include "host/errors/error.hpp"

namespace chime::host::ofi {
namespace {

EndpointInfo sample() {
  return {.why_none = {},
          .provider = "tcp;ofi_rxm",
          .provider_version = 117,
          .address_format = 2,
          .address = {std::byte{1}, std::byte{2}},
          .heap_bytes = 4096,
          .heap = 0x7f0000000000,
          .key = ~0ull,
          .raw_key = {std::byte{9}},
          .pass = 77,
          .takes_puts = true,
          .bounces = true,
          .has_pool = true,
          .pool = 0x7e0000000000,
          .pool_key = 5,
          .pool_raw_key = {std::byte{8}}};
}

TEST(OfiEndpointInfo, CrossesWhole) {
  const EndpointInfo endpoint_info = read_endpoint_info(1, write_endpoint_info(sample()));
  EXPECT_EQ(endpoint_info.provider, "tcp;ofi_rxm");
  EXPECT_EQ(endpoint_info.provider_version, 117u);
  EXPECT_EQ(endpoint_info.address_format, 2u);
  EXPECT_EQ(endpoint_info.address, sample().address);
  EXPECT_EQ(endpoint_info.heap_bytes, 4096u);
  EXPECT_EQ(endpoint_info.heap, 0x7f0000000000u);
  EXPECT_EQ(endpoint_info.key, ~0ull);
  EXPECT_EQ(endpoint_info.raw_key, sample().raw_key);
  EXPECT_EQ(endpoint_info.pass, 77u);
  EXPECT_TRUE(endpoint_info.takes_puts);
  EXPECT_TRUE(endpoint_info.bounces && endpoint_info.has_pool);
  EXPECT_EQ(endpoint_info.pool, 0x7e0000000000u);
  EXPECT_EQ(endpoint_info.pool_key, 5u);
  EXPECT_EQ(endpoint_info.pool_raw_key, sample().pool_raw_key);
}

TEST(OfiEndpointInfo, AReasonIsCutOffWhereAEndpointInfoEnds) {
  const EndpointInfoBytes bytes = write_endpoint_info({.why_none = std::string(2000, 'x')});
  EXPECT_LE(bytes.size(), kMostEndpointInfoBytes);
  EXPECT_THAT(read_endpoint_info(1, bytes).why_none, testing::StartsWith("xxxx"));
}

TEST(OfiEndpointInfo, OtherBytesAreAnotherVersion) {
  const EndpointInfoBytes bytes = write_endpoint_info(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(read_endpoint_info(3, std::span(bytes).first(length)), Error) << length;
  EndpointInfoBytes longer = bytes;
  longer.push_back({});
  EXPECT_THROW(read_endpoint_info(3, longer), Error);
  EndpointInfoBytes other = bytes;
  other[0] ^= std::byte{1};
  try {
    read_endpoint_info(3, other);
    ADD_FAILURE() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), CHIMEX_ERR_MISMATCH);
    EXPECT_THAT(error.what(), testing::HasSubstr("PE 3 runs another version"));
  }
}

}  // namespace
}  // namespace chime::host::ofi
