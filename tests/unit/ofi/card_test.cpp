// A PE's card crosses whole, and anything else is refused.
#include "host/transport/ofi/card.hpp"

#include <gmock/gmock.h>

#include "host/errors/error.hpp"

namespace chime::host::ofi {
namespace {

Card sample() {
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

TEST(OfiCard, CrossesWhole) {
  const Card card = read_card(1, write_card(sample()));
  EXPECT_EQ(card.provider, "tcp;ofi_rxm");
  EXPECT_EQ(card.provider_version, 117u);
  EXPECT_EQ(card.address_format, 2u);
  EXPECT_EQ(card.address, sample().address);
  EXPECT_EQ(card.heap_bytes, 4096u);
  EXPECT_EQ(card.heap, 0x7f0000000000u);
  EXPECT_EQ(card.key, ~0ull);
  EXPECT_EQ(card.raw_key, sample().raw_key);
  EXPECT_EQ(card.pass, 77u);
  EXPECT_TRUE(card.takes_puts);
  EXPECT_TRUE(card.bounces && card.has_pool);
  EXPECT_EQ(card.pool, 0x7e0000000000u);
  EXPECT_EQ(card.pool_key, 5u);
  EXPECT_EQ(card.pool_raw_key, sample().pool_raw_key);
}

TEST(OfiCard, AReasonIsCutOffWhereACardEnds) {
  const CardBytes bytes = write_card({.why_none = std::string(2000, 'x')});
  EXPECT_LE(bytes.size(), kMostCardBytes);
  EXPECT_THAT(read_card(1, bytes).why_none, testing::StartsWith("xxxx"));
}

TEST(OfiCard, OtherBytesAreAnotherVersion) {
  const CardBytes bytes = write_card(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(read_card(3, std::span(bytes).first(length)), Error) << length;
  CardBytes longer = bytes;
  longer.push_back({});
  EXPECT_THROW(read_card(3, longer), Error);
  CardBytes other = bytes;
  other[0] ^= std::byte{1};
  try {
    read_card(3, other);
    ADD_FAILURE() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), CHIMEX_ERR_MISMATCH);
    EXPECT_THAT(error.what(), testing::HasSubstr("PE 3 runs another version"));
  }
}

}  // namespace
}  // namespace chime::host::ofi
