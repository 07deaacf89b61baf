// The proxy's conclusions about its processor from its yields, tested with simulated times.
#include "proxy/crowding.hpp"

#include <gtest/gtest.h>

namespace chime::proxy {
namespace {

using namespace std::chrono_literals;

struct Thread {
  Crowding crowding;
  Crowding::Time now{1h};

  void yield_for(std::chrono::nanoseconds length) {
    const auto began = now;
    now += length;
    crowding.yielded(began, now);
  }
  // Lets some time pass.
  bool is_crowded_after(std::chrono::nanoseconds time) {
    now += time;
    return crowding.is_believed(now);
  }
};

// A neighbour that copies, and then yields, too.
TEST(Crowding, IsNotAssumedForOneLongYield) {
  Thread thread;
  for (int i = 0; i < 10; ++i) {
    thread.yield_for(3ms);
    EXPECT_FALSE(thread.is_crowded_after(0ms));
    for (int n = 0; n < 4; ++n) thread.yield_for(1us);
    EXPECT_FALSE(thread.is_crowded_after(0ms));
  }
}

// As Linux 6.6 and newer treat a thread that yields beside one that computes.
TEST(Crowding, IsAssumedWhereAFewYieldsBetweenLongOnesAreShort) {
  Thread thread;
  thread.yield_for(4ms);
  for (int n = 0; n < 3; ++n) thread.yield_for(1us);
  thread.yield_for(4ms);
  ASSERT_TRUE(thread.is_crowded_after(9ms));
  ASSERT_FALSE(thread.is_crowded_after(2ms));
  thread.yield_for(1us);
  thread.yield_for(4ms);
  EXPECT_TRUE(thread.is_crowded_after(19ms));
}

TEST(Crowding, IsAssumedForAWhileAfterTwoLongYields) {
  Thread thread;
  thread.yield_for(3ms);
  thread.yield_for(3ms);
  EXPECT_TRUE(thread.is_crowded_after(9ms));
  EXPECT_FALSE(thread.is_crowded_after(2ms));
}

// A computing neighbour stays: detecting it costs one turn of the scheduler, not two.
TEST(Crowding, IsAssumedAgainForTwiceAsLongAfterOneMore) {
  Thread thread;
  thread.yield_for(3ms);
  thread.yield_for(3ms);
  EXPECT_FALSE(thread.is_crowded_after(11ms));
  thread.yield_for(3ms);
  EXPECT_TRUE(thread.is_crowded_after(19ms));
  EXPECT_FALSE(thread.is_crowded_after(2ms));
}

TEST(Crowding, IsAssumedForAtMostATenthOfASecond) {
  Thread thread;
  thread.yield_for(3ms);
  for (int i = 0; i < 10; ++i) {
    thread.yield_for(3ms);
    EXPECT_FALSE(thread.is_crowded_after(101ms));
  }
}

TEST(Crowding, BeginsAnewWhenThereWasNoneForLong) {
  Thread thread;
  for (int i = 0; i < 5; ++i) thread.yield_for(3ms);
  EXPECT_FALSE(thread.is_crowded_after(300ms));
  thread.yield_for(1us);
  thread.yield_for(3ms);
  thread.yield_for(3ms);
  EXPECT_FALSE(thread.is_crowded_after(11ms));
}

// Neighbours that copy now and then do not prolong the memory of it.
TEST(Crowding, BeginsAnewAlsoAmongSingleLongYields) {
  Thread thread;
  for (int i = 0; i < 5; ++i) thread.yield_for(3ms);
  for (int i = 0; i < 6; ++i) {
    thread.now += 90ms;
    for (int n = 0; n < 4; ++n) thread.yield_for(1us);
    thread.yield_for(3ms);
  }
  thread.yield_for(3ms);
  EXPECT_TRUE(thread.is_crowded_after(9ms));
  EXPECT_FALSE(thread.is_crowded_after(2ms));
}

// It tries another processor before it sleeps.
TEST(Crowding, IsLeftAfterTwoLongYields) {
  Thread thread;
  thread.yield_for(3ms);
  EXPECT_FALSE(thread.crowding.may_leave(thread.now));
  thread.yield_for(3ms);
  ASSERT_TRUE(thread.crowding.may_leave(thread.now));
  thread.crowding.left(thread.now);
  EXPECT_FALSE(thread.is_crowded_after(0ms)) << "it sleeps on the new one";
  EXPECT_FALSE(thread.crowding.may_leave(thread.now));
}

// All are crowded: it sleeps, and moves no more than ten times a second.
TEST(Crowding, IsNotLeftAgainForATenthOfASecond) {
  Thread thread;
  thread.yield_for(3ms);
  thread.yield_for(3ms);
  thread.crowding.left(thread.now);
  const auto left = thread.now;
  thread.yield_for(3ms);
  EXPECT_FALSE(thread.is_crowded_after(0ms)) << "by one yield that was long";
  thread.yield_for(3ms);
  EXPECT_TRUE(thread.is_crowded_after(0ms));
  while (thread.now + 3ms < left + 100ms) {
    ASSERT_FALSE(thread.crowding.may_leave(thread.now));
    thread.yield_for(3ms);
  }
  thread.yield_for(3ms);
  EXPECT_TRUE(thread.crowding.may_leave(thread.now));
}

}  // namespace
}  // namespace chime::proxy
