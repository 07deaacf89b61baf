// What of nic.h is more than layout.
#include "chime/abi/nic.h"

#include <gtest/gtest.h>

#include <set>

namespace chime::tests {
namespace {

using namespace abi;

TEST(NicQueueIndex, IsOneQueueForEachSlotAndPe) {
  std::set<std::uint64_t> seen;
  for (std::uint32_t pe = 0; pe < 5; ++pe)
    for (std::uint32_t slot = 0; slot < 4; ++slot) seen.insert(nic_queue_index(4, slot, pe));
  EXPECT_EQ(seen.size(), 20u);
  EXPECT_EQ(*seen.rbegin(), 19u);
}

TEST(NicQueueIndex, APeersQueuesLieInOneWordOfTheBitmap) {
  for (const std::uint32_t slots : {1u, 2u, 8u, 64u})
    for (std::uint32_t pe = 0; pe < 200; ++pe)
      EXPECT_EQ(nic_queue_index(slots, 0, pe) / 64, nic_queue_index(slots, slots - 1, pe) / 64);
}

TEST(NicQueueIndex, TheBitmapHoldsAllQueues) {
  NicContext context{};
  context.n_pes = 9;
  context.slots = 8;
  EXPECT_EQ(nic_touched_words(context), 2u);
}

TEST(NicStatus, KeepsReasonAndSyndrome) {
  const std::uint32_t status = nic_status(NicStop::kError, 0x15);
  EXPECT_EQ(nic_stop(status), NicStop::kError);
  EXPECT_EQ(status & 0xff, 0x15u);
  EXPECT_NE(nic_status(NicStop::kGaveUp), 0u);
}

static_assert(kNicLeastDepth >= kNicBatch - 1 + kNicMostAtOnce + 1,
              "the deadlock rule of device/path/README.md");

}  // namespace
}  // namespace chime::tests
