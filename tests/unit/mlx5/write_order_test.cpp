// When PEs rely on the order of writes, and how --paths reports it.
#include "host/transport/mlx5/write_order.hpp"

#include <gtest/gtest.h>

namespace chime::host::mlx5 {
namespace {

using enum DataOrder;

TEST(WriteOrder, IsCountedOnWhereThePeerPromisesIt) {
  EXPECT_TRUE(counts_on_order(NicWriteOrder::kAuto, kInOrder));
  for (const DataOrder order : {kAnyOrder, kUnknown, kNoNic})
    EXPECT_FALSE(counts_on_order(NicWriteOrder::kAuto, order));
}

TEST(WriteOrder, IsWhatTheVariableSays) {
  for (const DataOrder order : {kInOrder, kAnyOrder, kUnknown}) {
    EXPECT_TRUE(counts_on_order(NicWriteOrder::kStrict, order));
    EXPECT_FALSE(counts_on_order(NicWriteOrder::kRelaxed, order));
  }
}

TEST(WriteOrder, IsDescribedWithItsReason) {
  const DataOrder good[] = {kInOrder, kNoNic, kInOrder};
  const DataOrder mixed[] = {kInOrder, kAnyOrder, kNoNic, kUnknown, kAnyOrder};
  EXPECT_EQ(describe_order(NicWriteOrder::kStrict, mixed, true),
            "writes in order (CHIME_NIC_ORDER=strict)");
  EXPECT_EQ(describe_order(NicWriteOrder::kRelaxed, good, true),
            "writes in any order (CHIME_NIC_ORDER=relaxed): signals behind data are masked swaps");
  EXPECT_EQ(describe_order(NicWriteOrder::kAuto, good, true), "writes in order, as all NICs say");
  EXPECT_EQ(describe_order(NicWriteOrder::kAuto, mixed, false),
            "writes in any order to 3 of 5 PEs (2 NICs say so, 1 cannot be asked): "
            "signals wait for their data");
}

}  // namespace
}  // namespace chime::host::mlx5
