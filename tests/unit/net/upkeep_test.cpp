// How long a thread sleeps, by the cost of its sleeps, measured with times of the test.
#include "net/mesh/upkeep.hpp"

#include <gtest/gtest.h>

namespace chime::net {
namespace {

using namespace std::chrono_literals;

struct Thread {
  Upkeep upkeep{1ms};
  std::chrono::nanoseconds used{5s};

  void sleep(unsigned times, std::chrono::nanoseconds cost) {
    for (unsigned i = 0; i < times; ++i) {
      used += cost;
      upkeep.slept([this] { return used; });
    }
  }
};

TEST(Upkeep, IsTheLeastUntilItHasBeenMeasured) {
  Thread thread;
  thread.sleep(Upkeep::kSleeps, 20us);
  EXPECT_EQ(thread.upkeep.length(), 1ms);
}

TEST(Upkeep, IsNoLongerWhereWakingCostsLittle) {
  Thread thread;
  thread.sleep(2 * Upkeep::kSleeps, 3us);
  EXPECT_EQ(thread.upkeep.length(), 1ms);
}

TEST(Upkeep, IsLessThanAHundredthOfACoreWhereWakingCostsMuch) {
  Thread thread;
  thread.sleep(2 * Upkeep::kSleeps, 20us);
  EXPECT_EQ(thread.upkeep.length(), 2500us);
}

TEST(Upkeep, IsNeverTooLongForAWaiter) {
  Thread thread;
  thread.sleep(2 * Upkeep::kSleeps, 1ms);
  EXPECT_EQ(thread.upkeep.length(), Upkeep::kMost);
}

TEST(Upkeep, DoesNotCountWhatWorkCosts) {
  Thread thread;
  thread.sleep(Upkeep::kSleeps, 3us);
  thread.used += 100ms;
  thread.upkeep.interrupt();
  thread.sleep(1, 3us);
  EXPECT_EQ(thread.upkeep.length(), 1ms);
}

TEST(Upkeep, FollowsWhatTheMachineCostsNow) {
  Thread thread;
  thread.sleep(2 * Upkeep::kSleeps, 40us);
  thread.sleep(4 * Upkeep::kSleeps, 3us);
  EXPECT_EQ(thread.upkeep.length(), 1ms);
}

}  // namespace
}  // namespace chime::net
