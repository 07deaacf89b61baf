// Cards survive the wire, and bytes that are none are refused.
#include "host/transport/mlx5/card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

Card some_card() {
  Card card;
  card.port.ethernet = 1;
  card.port.mtu = 5;
  card.port.lid = 77;
  card.port.gid[15] = std::byte{9};
  card.heap = 0x1000;
  card.heap_bytes = 1ull << 40;
  card.key = 11;
  card.strict_key = 12;
  card.psn = 0xabcdef;
  card.is_relaxed = true;
  card.reads = 16;
  card.slots = 2;
  return card;
}

TEST(Card, SurvivesTheWire) {
  const Card sent = some_card();
  const Card card = read_card(1, write_card(sent));
  EXPECT_EQ(card.port.gid, sent.port.gid);
  EXPECT_EQ(card.port.lid, 77);
  EXPECT_EQ(card.heap, sent.heap);
  EXPECT_EQ(card.heap_bytes, sent.heap_bytes);
  EXPECT_EQ(card.key, 11u);
  EXPECT_EQ(card.strict_key, 12u);
  EXPECT_EQ(card.psn, 0xabcdefu);
  EXPECT_TRUE(card.is_relaxed);
  EXPECT_EQ(card.reads, 16u);
  EXPECT_EQ(card.slots, 2u);
  EXPECT_TRUE(card.why_none.empty());
}

TEST(Card, SaysWhyThereIsNoNic) {
  Card sent;
  sent.why_none = "no port is active";
  EXPECT_EQ(read_card(1, write_card(sent)).why_none, "no port is active");
}

TEST(Card, KeepsToItsBoundHoweverLongTheReason) {
  Card sent;
  sent.why_none = std::string(10'000, 'x');
  const CardBytes bytes = write_card(sent);
  EXPECT_LE(bytes.size(), kMostCardBytes);
  const std::string why = read_card(1, bytes).why_none;
  EXPECT_THAT(why, testing::SizeIs(testing::Gt(100u)));
  EXPECT_EQ(why, std::string(why.size(), 'x'));
}

TEST(Card, OffersAndReceiptsSurviveTheWire) {
  const std::vector<std::uint32_t> numbers = {5, 6, 0xffffff};
  EXPECT_EQ(read_offer(1, write_offer(numbers)), numbers);
  EXPECT_LE(write_offer(std::vector<std::uint32_t>(65)).size(), kMostOfferBytes);
  EXPECT_THROW(read_offer(1, std::vector(7, std::byte{})), Error);
  for (const auto order :
       {DataOrder::kNoNic, DataOrder::kInOrder, DataOrder::kAnyOrder, DataOrder::kUnknown})
    EXPECT_EQ(read_receipt(1, write_receipt(order)), order);
  EXPECT_THROW(read_receipt(1, {}), Error);
  EXPECT_THROW(read_receipt(1, std::vector(1, std::byte{4})), Error);
  EXPECT_THROW(read_receipt(1, std::vector(2, std::byte{1})), Error);
}

TEST(Card, BytesThatAreNoneAreRefused) {
  const CardBytes good = write_card(some_card());
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_THROW(read_card(1, std::span(good).first(length)), Error) << length << " bytes";
  CardBytes other = good;
  other[0] ^= std::byte{1};
  EXPECT_THROW(read_card(1, other), Error);
  other = good;
  other.push_back(std::byte{0});
  EXPECT_THROW(read_card(1, other), Error);
}

}  // namespace
}  // namespace chime::host::mlx5
