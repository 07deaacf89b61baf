// A PE may be killed while it reports another's death to a local peer. The local peer's abort word
// was then claimed and never published, and nothing else could raise it: an unbounded wait went on
// for ever.

#include <gtest/gtest.h>

#include "host/errors/abort.hpp"

namespace chime::host {
namespace {

constexpr std::uint32_t kClaimed = 1;  // abort.cpp

TEST(AbortClaimedByTheDead, IsRaisedByTheNextThatHasACause) {
  abi::AbortWord word{};
  word.raised = kClaimed;
  EXPECT_TRUE(raise_abort(word, {CHIMEX_ERR_PEER_DEAD, 3, Path::kNone, "PE 3 is gone"}));
  const auto cause = abort_cause(word);
  ASSERT_TRUE(cause.has_value());
  EXPECT_EQ(cause->pe, 3);
  EXPECT_EQ(cause->why, "PE 3 is gone");
  EXPECT_FALSE(raise_abort(word, {CHIMEX_ERR_ABORTED, 4, Path::kNone, "later"}));
}

}  // namespace
}  // namespace chime::host
