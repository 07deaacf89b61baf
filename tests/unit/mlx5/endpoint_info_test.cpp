// Endpoint infos survive encoding, and invalid bytes are refused.
#include "host/transport/mlx5/endpoint_info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

EndpointInfo some_endpoint_info() {
  EndpointInfo endpoint_info;
  endpoint_info.port.ethernet = 1;
  endpoint_info.port.mtu = 5;
  endpoint_info.port.lid = 77;
  endpoint_info.port.gid[15] = std::byte{9};
  endpoint_info.heap = 0x1000;
  endpoint_info.heap_bytes = 1ull << 40;
  endpoint_info.key = 11;
  endpoint_info.strict_key = 12;
  endpoint_info.psn = 0xabcdef;
  endpoint_info.is_relaxed = true;
  endpoint_info.reads = 16;
  endpoint_info.slots = 2;
  return endpoint_info;
}

TEST(EndpointInfo, SurvivesTheWire) {
  const EndpointInfo sent = some_endpoint_info();
  const EndpointInfo endpoint_info = read_endpoint_info(1, write_endpoint_info(sent));
  EXPECT_EQ(endpoint_info.port.gid, sent.port.gid);
  EXPECT_EQ(endpoint_info.port.lid, 77);
  EXPECT_EQ(endpoint_info.heap, sent.heap);
  EXPECT_EQ(endpoint_info.heap_bytes, sent.heap_bytes);
  EXPECT_EQ(endpoint_info.key, 11u);
  EXPECT_EQ(endpoint_info.strict_key, 12u);
  EXPECT_EQ(endpoint_info.psn, 0xabcdefu);
  EXPECT_TRUE(endpoint_info.is_relaxed);
  EXPECT_EQ(endpoint_info.reads, 16u);
  EXPECT_EQ(endpoint_info.slots, 2u);
  EXPECT_TRUE(endpoint_info.why_none.empty());
}

TEST(EndpointInfo, SaysWhyThereIsNoNic) {
  EndpointInfo sent;
  sent.why_none = "no port is active";
  EXPECT_EQ(read_endpoint_info(1, write_endpoint_info(sent)).why_none, "no port is active");
}

TEST(EndpointInfo, KeepsToItsBoundHoweverLongTheReason) {
  EndpointInfo sent;
  sent.why_none = std::string(10'000, 'x');
  const EndpointInfoBytes bytes = write_endpoint_info(sent);
  EXPECT_LE(bytes.size(), kMostEndpointInfoBytes);
  const std::string why = read_endpoint_info(1, bytes).why_none;
  EXPECT_THAT(why, testing::SizeIs(testing::Gt(100u)));
  EXPECT_EQ(why, std::string(why.size(), 'x'));
}

TEST(EndpointInfo, OffersAndReceiptsSurviveTheWire) {
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

TEST(EndpointInfo, BytesThatAreNoneAreRefused) {
  const EndpointInfoBytes good = write_endpoint_info(some_endpoint_info());
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_THROW(read_endpoint_info(1, std::span(good).first(length)), Error) << length << " bytes";
  EndpointInfoBytes other = good;
  other[0] ^= std::byte{1};
  EXPECT_THROW(read_endpoint_info(1, other), Error);
  other = good;
  other.push_back(std::byte{0});
  EXPECT_THROW(read_endpoint_info(1, other), Error);
}

}  // namespace
}  // namespace chime::host::mlx5
