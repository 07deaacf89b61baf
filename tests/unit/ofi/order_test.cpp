// Which atomics are held back, and for how long: by hand, put by put.
#include "host/transport/ofi/requests/order.hpp"

#include <gmock/gmock.h>

namespace chime::host::ofi {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(OfiOrder, WithoutPutsNothingIsHeld) {
  Order<int> order;
  EXPECT_FALSE(order.must_wait());
  const auto put = order.enter();
  EXPECT_TRUE(order.must_wait());
  EXPECT_THAT(order.leave(put), IsEmpty());
  EXPECT_FALSE(order.must_wait());
}

TEST(OfiOrder, AnAtomicWaitsForAllPutsBeforeItWhateverTheOrderOfTheirEnds) {
  Order<int> order;
  const auto a = order.enter(), b = order.enter(), c = order.enter();
  order.hold(1);
  EXPECT_THAT(order.leave(b), IsEmpty());
  EXPECT_THAT(order.leave(c), IsEmpty());
  EXPECT_THAT(order.leave(a), ElementsAre(1));
}

TEST(OfiOrder, AnAtomicDoesNotWaitForPutsBehindIt) {
  Order<int> order;
  const auto before = order.enter();
  order.hold(1);
  const auto behind = order.enter();
  EXPECT_THAT(order.leave(before), ElementsAre(1));
  EXPECT_TRUE(order.must_wait()) << "another one would";
  EXPECT_THAT(order.leave(behind), IsEmpty());
}

TEST(OfiOrder, APutOfALaterGroupFreesNothingWhileAnEarlierOneIsUnderWay) {
  Order<int> order;
  const auto a = order.enter();
  order.hold(1);
  const auto b = order.enter();
  order.hold(2);
  EXPECT_THAT(order.leave(b), IsEmpty());
  EXPECT_THAT(order.leave(a), ElementsAre(1, 2));
}

TEST(OfiOrder, AGroupWhosePutsHavePassedStillWaitsForThoseBefore) {
  Order<int> order;
  const auto a = order.enter();
  order.hold(1);
  const auto b = order.enter();
  EXPECT_THAT(order.leave(b), IsEmpty());
  const auto c = order.enter();
  order.hold(2);
  EXPECT_THAT(order.leave(a), ElementsAre(1)) << "2 waits for c";
  EXPECT_THAT(order.leave(c), ElementsAre(2));
  EXPECT_FALSE(order.must_wait());
}

TEST(OfiOrder, AtomicsOfOneGroupGoInTheirOrder) {
  Order<int> order;
  const auto a = order.enter();
  order.hold(1);
  order.hold(2);
  order.hold(3);
  EXPECT_THAT(order.leave(a), ElementsAre(1, 2, 3));
}

// Against a plain implementation of the promise: an atomic is out when no put before it is left.
TEST(OfiOrder, HoldsForAnySequence) {
  std::uint32_t state = 1;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
  };
  Order<int> order;
  struct Put {
    int posted;
    Order<int>::Turn turn;
  };
  std::vector<Put> puts;
  std::vector<int> held;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t what = random(5);
    if (what < 2) {
      puts.push_back({step, order.enter()});
    } else if (what == 2) {
      ASSERT_EQ(order.must_wait(), !puts.empty());
      if (!puts.empty()) {
        order.hold(step);
        held.push_back(step);
      }
    } else if (!puts.empty()) {
      const auto one = puts.begin() + random(static_cast<std::uint32_t>(puts.size()));
      const auto turn = one->turn;
      puts.erase(one);
      int oldest = step;
      for (const Put& put : puts) oldest = std::min(oldest, put.posted);
      std::vector<int> free;
      std::erase_if(held, [&](int atomic) {
        if (atomic >= oldest) return false;
        free.push_back(atomic);
        return true;
      });
      ASSERT_EQ(order.leave(turn), free) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace chime::host::ofi
