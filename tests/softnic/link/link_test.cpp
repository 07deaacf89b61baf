// Two NICs' links in one process, each with its thread: packets arrive in order, and wake a
// sleeping neighbour, on its socket (long sleeps) and on its futex (short ones; no test can tell a
// lost wake-up there, which costs 100 us, from a busy machine).

#include "softnic/wire/link.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

using softnic::Link;
using softnic::PacketHeader;
using softnic::Reach;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr auto kDeadline = std::chrono::seconds(60);

std::string fabric(const char* test) { return std::string(test) + std::to_string(::getpid()); }

void take_nap(Link& link, nanoseconds at_most) {
  if (link.fall_asleep(at_most)) link.sleep();
  link.wake_up();
}

// Receives on a separate thread and sleeps for `nap` whenever nothing came.
class Sleeper {
 public:
  Sleeper(const std::string& fabric, nanoseconds nap)
      : link_(softnic::make_shared_memory_link(fabric)), nap_(nap), thread_([this] { run(); }) {}
  ~Sleeper() {
    stop_.store(true);
    thread_.join();
  }

  std::uint32_t address() const { return link_->address(); }
  std::uint32_t received() const { return received_.load(); }
  bool in_order() const { return in_order_.load(); }

 private:
  void run() {
    while (!stop_.load()) {
      link_->housekeeping();
      const auto take = [this](const PacketHeader& header, const std::byte*) {
        if (header.sequence != received_.load()) in_order_.store(false);
        received_.fetch_add(1);
      };
      if (link_->poll(take, 64) == 0) take_nap(*link_, nap_);
    }
  }

  std::unique_ptr<Link> link_;
  nanoseconds nap_;
  std::atomic<std::uint32_t> received_{0};
  std::atomic<bool> in_order_{true}, stop_{false};
  std::thread thread_;
};

bool send(Link& link, std::uint32_t to, std::uint32_t sequence) {
  std::byte* payload = nullptr;
  if (link.begin(to, 0, &payload) != Reach::kReady) return false;
  PacketHeader header;
  header.sequence = sequence;
  link.commit(header);
  return true;
}

// Sends one packet after the other, each when the one before it has arrived, until a few of them
// have woken a sleeper.
void expect_wakings(const char* test, nanoseconds nap) {
  constexpr unsigned kWakings = 100;
  Sleeper sleeper(fabric(test), nap);
  const auto sender = softnic::make_shared_memory_link(fabric(test));
  const auto deadline = Clock::now() + kDeadline;
  std::uint32_t sent = 0;
  for (unsigned wakings = 0; wakings < kWakings;) {
    ASSERT_LT(Clock::now(), deadline) << wakings << " of " << kWakings << " wakings after " << sent
                                      << " packets, of which arrived " << sleeper.received();
    if (sleeper.received() == sent && send(*sender, sleeper.address(), sent)) ++sent;
    if (sender->has_woken()) {
      ++wakings;
      take_nap(*sender, nanoseconds(1));  // forgets it
    }
    std::this_thread::sleep_for(microseconds(50));
  }
  while (sleeper.received() < sent) ASSERT_LT(Clock::now(), deadline);
  EXPECT_TRUE(sleeper.in_order());
}

TEST(Link, WakesANeighbourThatSleepsOnAFutex) { expect_wakings("futex", microseconds(100)); }

// kDeadline is too short for whole sleeps: packets end them.
TEST(Link, WakesANeighbourThatSleepsOnItsSocket) { expect_wakings("socket", milliseconds(999)); }

// As a program's call may do while the NIC's thread sleeps.
TEST(Link, MayConnectWhileItSleeps) {
  Sleeper other(fabric("connect"), milliseconds(1));
  const auto link = softnic::make_shared_memory_link(fabric("connect"));
  ASSERT_TRUE(link->fall_asleep(milliseconds(50)));
  ASSERT_TRUE(send(*link, other.address(), 0));
  link->sleep();
  link->wake_up();
  EXPECT_EQ(link->neighbours(), 1u);
  ASSERT_TRUE(send(*link, other.address(), 1));
  const auto deadline = Clock::now() + kDeadline;
  while (other.received() < 2) ASSERT_LT(Clock::now(), deadline);
}

TEST(Link, CountsItsNeighbours) {
  Sleeper sleeper(fabric("count"), milliseconds(1));
  const auto sender = softnic::make_shared_memory_link(fabric("count"));
  EXPECT_EQ(sender->neighbours(), 0u);
  ASSERT_TRUE(send(*sender, sleeper.address(), 0));
  EXPECT_EQ(sender->neighbours(), 1u);
  EXPECT_FALSE(send(*sender, sleeper.address() + 100, 0)) << "no NIC has this address";
  EXPECT_EQ(sender->neighbours(), 1u);
}

// Answers may go to a NIC that had no connection before, while others still wait to be received.
class Senders : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(AsManyAs, Senders, testing::Range(1u, 5u));

TEST_P(Senders, AreReceivedWhileTheReceiverConnects) {
  const unsigned count = GetParam();
  const std::string name = fabric("connect");
  const auto receiver = softnic::make_shared_memory_link(name);
  const auto stranger = softnic::make_shared_memory_link(name);
  std::vector<std::unique_ptr<Link>> senders;
  for (unsigned i = 0; i < count; ++i) senders.push_back(softnic::make_shared_memory_link(name));
  for (const auto& sender : senders) ASSERT_TRUE(send(*sender, receiver->address(), 0));
  const auto deadline = Clock::now() + kDeadline;
  while (receiver->neighbours() < count) {
    ASSERT_LT(Clock::now(), deadline);
    receiver->housekeeping();
  }
  unsigned received = 0;
  receiver->poll(
      [&](const PacketHeader&, const std::byte*) {
        ++received;
        EXPECT_TRUE(send(*receiver, stranger->address(), 0));
      },
      64);
  EXPECT_EQ(received, count);
  EXPECT_EQ(receiver->neighbours(), count + 1);
}

// Two NICs that connect to each other at once have two connections; each keeps its order.
TEST(Link, KeepsOrderWhereBothSidesConnect) {
  const std::string name = fabric("both");
  const auto left = softnic::make_shared_memory_link(name);
  const auto right = softnic::make_shared_memory_link(name);
  ASSERT_TRUE(send(*left, right->address(), 0));
  ASSERT_TRUE(send(*right, left->address(), 0));
  const auto deadline = Clock::now() + kDeadline;
  while (left->neighbours() < 2 || right->neighbours() < 2) {
    ASSERT_LT(Clock::now(), deadline);
    left->housekeeping();
    right->housekeeping();
  }
  for (std::uint32_t i = 1; i < 5; ++i) {
    ASSERT_TRUE(send(*left, right->address(), i));
    ASSERT_TRUE(send(*right, left->address(), i));
  }
  for (const auto& link : {left.get(), right.get()}) {
    std::vector<std::uint32_t> seen;
    const auto take = [&](const PacketHeader& header, const std::byte*) {
      seen.push_back(header.sequence);
    };
    while (link->poll(take, 64) != 0) {
    }
    EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  }
}

}  // namespace
