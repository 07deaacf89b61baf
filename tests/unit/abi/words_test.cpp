// Words with two fields.
#include "chime/abi/words.h"

#include <gtest/gtest.h>

namespace chime::tests {
namespace {

using namespace abi;

TEST(RouteWord, KeepsPathAndIndex) {
  for (const std::uint32_t first : {0u, 1u, 4096u, kRouteIndexBits})
    for (const Path path : {Path::kNic, Path::kProxy}) {
      const std::uint32_t word = route_word(path, first);
      EXPECT_EQ(path_of_route(word), path);
      EXPECT_EQ(first_of_route(word), first);
      EXPECT_NE(word, 0u) << "0 says that none leads there";
    }
}

TEST(RouteWord, HasRoomForAMillionPesWithSixtyFourChannelsEach) {
  EXPECT_GE(kRouteIndexBits, 64u * 1'000'000 - 1);
}

TEST(ReadyWord, KeepsIndexTailAndOwed) {
  for (const std::uint64_t end : {std::uint64_t{0}, std::uint64_t{5}, kIndexBits})
    for (unsigned tail = 0; tail <= kMostTail; ++tail)
      for (const std::uint64_t owed : {std::uint64_t{0}, kOwed}) {
        const std::uint64_t word = ready_word(end, tail) | owed;
        EXPECT_EQ(word & kIndexBits, end);
        EXPECT_EQ(tail_of(word), tail);
        EXPECT_EQ(word & kOwed, owed);
      }
}

TEST(StatusWord, KeepsReasonAndSyndrome) {
  const std::uint32_t status = status_word(Stop::kError, 0x15);
  EXPECT_EQ(stop_of(status), Stop::kError);
  EXPECT_EQ(status & 0xff, 0x15u);
  EXPECT_NE(status_word(Stop::kGaveUp), 0u);
}

TEST(LeftSlot, IsFreeWhenTheChannelIsThrough) {
  const std::uint64_t word = nic_left_slot(77, 0x1'0000'0005);
  EXPECT_EQ(nic_channel_of_left_slot(word), 77u);
  EXPECT_FALSE(nic_left_slot_is_free(word, 0x1'0000'0004));
  EXPECT_TRUE(nic_left_slot_is_free(word, 0x1'0000'0005));
}

TEST(CallWord, KeepsOperationAndRootAndTellsVariantsApart) {
  for (const std::uint32_t operation : {1u, 77u, 255u})
    for (const std::int32_t root : {0, 1, 0x7fff'ffff}) {
      const std::uint64_t word = call_word(operation, 0x020304, root);
      EXPECT_EQ(operation_of_call(word), operation);
      EXPECT_EQ(root_of_call(word), root);
      EXPECT_NE(word, call_word(operation, 0x020305, root));
      EXPECT_NE(word, call_word(operation, 0x030304, root));
    }
}

static_assert(kNicLeastDepth >= kNicBatch - 1 + kNicMostAtOnce,
              "the deadlock rule of device/channel/README.md");

}  // namespace
}  // namespace chime::tests
