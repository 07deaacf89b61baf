// When a waiting thread takes its core for crowded: by the length of its yields, on a simulated
// clock.
#include "chime/device/simt/threads/crowding.hpp"

#include <gtest/gtest.h>

namespace chime::simt {
namespace {

using namespace std::chrono_literals;

struct Thread {
  Crowding crowding;
  Crowding::Time now{1h};  // a clock that has run for a while

  void yield(std::chrono::nanoseconds takes) {
    const auto began = now;
    now += takes;
    crowding.yielded(began, now);
  }
  bool naps_after(std::chrono::nanoseconds pause) const {
    return crowding.is_believed(now + pause);
  }
};

TEST(Crowding, ANewThreadYields) {
  const Thread thread;
  EXPECT_FALSE(thread.naps_after(0ns));
  EXPECT_EQ(thread.crowding.hopeful_turns(), 64u);
}

TEST(Crowding, AloneItHopesForLonger) {
  Thread thread;
  thread.yield(499ns);
  EXPECT_EQ(thread.crowding.hopeful_turns(), 256u);
  thread.yield(500ns);
  EXPECT_EQ(thread.crowding.hopeful_turns(), 64u) << "a neighbour had the core meanwhile";
}

TEST(Crowding, ItYieldsToAWaitingNeighbour) {
  Thread thread;
  for (int i = 0; i < 1000; ++i) {
    thread.yield(500us);
    ASSERT_FALSE(thread.naps_after(0ns));
  }
}

TEST(Crowding, BesideAComputingOneItNapsForTenMilliseconds) {
  Thread thread;
  thread.yield(501us);
  EXPECT_TRUE(thread.naps_after(10ms - 1ns));
  EXPECT_FALSE(thread.naps_after(10ms));
}

TEST(Crowding, EachThatFollowsCountsTwiceAsLongUpToASecond) {
  Thread thread;
  for (const auto length : {10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1000ms, 1000ms}) {
    thread.yield(4ms);
    EXPECT_TRUE(thread.naps_after(length - 1ns)) << length.count() << " ms";
    EXPECT_FALSE(thread.naps_after(length)) << length.count() << " ms";
    thread.now += length;
  }
}

TEST(Crowding, ASecondWithoutOneResetsTheNaps) {
  Thread thread;
  for (int i = 0; i < 4; ++i) {
    thread.yield(4ms);
    thread.now += 80ms;
  }
  thread.yield(1us);
  thread.now += 500ms;
  thread.yield(1us);
  thread.yield(4ms);
  EXPECT_TRUE(thread.naps_after(160ms - 1ns)) << "half a second is too short";
  thread.now += 160ms + 1s;
  thread.yield(1us);
  thread.yield(4ms);
  EXPECT_TRUE(thread.naps_after(10ms - 1ns));
  EXPECT_FALSE(thread.naps_after(10ms));
}

}  // namespace
}  // namespace chime::simt
