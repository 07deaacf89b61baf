// A reactor on this thread: what it serves in which order.
#include "net/mesh/reactor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <deque>
#include <string>
#include <thread>

namespace chime::net::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// A socket of the reactor: something arrives there, and is read once.
class Source {
 public:
  Source(Reactor& reactor, std::function<void()> read) : fd_(eventfd(0, EFD_NONBLOCK)) {
    reactor.watch(fd_.get(), EPOLLIN, [this, read = std::move(read)](std::uint32_t) {
      eventfd_t count;
      eventfd_read(fd_.get(), &count);
      read();
    });
  }
  void arrive() { eventfd_write(fd_.get(), 1); }

 private:
  Descriptor fd_;
};

// The order in which things were served.
struct Served {
  std::vector<std::string> names;
  std::function<void()> note(std::string name) {
    return [this, name = std::move(name)] { names.push_back(name); };
  }
  void run(Reactor& reactor, std::size_t n) {
    ASSERT_TRUE(reactor.run_until([&] { return names.size() >= n; }, Clock::now() + 60s));
  }
};

TEST(Reactor, APostWakesItFromAnotherThread) {
  Reactor reactor;
  bool is_done = false;
  std::thread other([&] { reactor.post([&] { is_done = true; }); });
  EXPECT_TRUE(reactor.run_until([&] { return is_done; }, Clock::now() + 60s));
  other.join();
}

TEST(Reactor, ClocksRingInTheirOrderAndNotOnceCancelled) {
  Reactor reactor;
  std::string rung;
  const auto now = Clock::now();
  reactor.at(now + 20ms, [&] { rung += 'b'; });
  const auto cancelled = reactor.at(now + 10ms, [&] { rung += 'x'; });
  reactor.at(now + 1ms, [&] { rung += 'a'; });
  reactor.cancel(cancelled);
  EXPECT_TRUE(reactor.run_until([&] { return rung.size() == 2; }, now + 60s));
  EXPECT_EQ(rung, "ab");
  EXPECT_GE(Clock::now(), now + 20ms);
}

TEST(Reactor, ServesWhatIsPostedInItsOrder) {
  Reactor reactor;
  Served served;
  reactor.post_behind_arrivals(served.note("behind, first"));
  reactor.post_behind_arrivals(served.note("behind, second"));
  reactor.post(served.note("posted"));
  served.run(reactor, 3);
  EXPECT_THAT(served.names, ElementsAre("posted", "behind, first", "behind, second"));
}

// The process is stopped in a handler, when the sockets have been looked at: what comes meanwhile
// has arrived before its own words.
TEST(Reactor, WhatStandsBehindArrivalsWaitsForOneThatCameAfterTheLook) {
  Reactor reactor;
  Served served;
  Source late(reactor, served.note("late"));
  Source first(reactor, [&] {
    served.names.push_back("first");
    reactor.post_behind_arrivals(served.note("own"));
    late.arrive();
  });
  first.arrive();
  served.run(reactor, 3);
  EXPECT_THAT(served.names, ElementsAre("first", "late", "own"));
}

// It is stopped just before its own words are served.
TEST(Reactor, WhatStandsBehindArrivalsWaitsForAnotherLookAfterALongStop) {
  Reactor reactor;
  Served served;
  Source late(reactor, served.note("late"));
  reactor.post_behind_arrivals(served.note("own"));
  reactor.run_once();
  ASSERT_TRUE(served.names.empty());
  reactor.post([&] {
    late.arrive();
    std::this_thread::sleep_for(Reactor::kStale + 10ms);
  });
  served.run(reactor, 2);
  EXPECT_THAT(served.names, ElementsAre("late", "own"));
}

TEST(Reactor, WhatStandsBehindArrivalsWaitsForMoreThanARoundCanServe) {
  Reactor reactor;
  Served served;
  std::deque<Source> sources;
  constexpr int kMany = 500;
  for (int i = 0; i < kMany; ++i) sources.emplace_back(reactor, served.note("arrived"));
  reactor.post_behind_arrivals(served.note("own"));
  reactor.run_once();
  for (Source& source : sources) source.arrive();
  served.run(reactor, kMany + 1);
  EXPECT_EQ(served.names.back(), "own");
}

}  // namespace
}  // namespace chime::net::test
