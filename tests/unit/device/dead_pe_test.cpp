// When a dead or lost PE ends a wait: not before the wait's patience is over, however long ago the
// death was found; but a wait for a connection at once.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "chime/device/channel/opening.cuh"
#include "chime/device/channel/watch.cuh"
#include "chime/device/sync.cuh"
#include "fake_job.hpp"

namespace chime::tests {
namespace {

constexpr std::uint64_t kPatienceNs = 200'000'000;
constexpr std::uint64_t kLongNs = 100 * kPatienceNs;

// A job of two PEs, PE 1 of which is dead.
class DeadPe : public testing::Test {
 protected:
  DeadPe() {
    ctx.pe.on_error = OnError::kReturn;
    ctx.pe.wait_timeout_ns = kPatienceNs;
  }
  void die() {
    job.bury(1);
    __atomic_store_n(&job.abort_word().first_dead, 2u, __ATOMIC_RELEASE);
  }
  // Waits for a signal that no PE sends.
  std::uint64_t ns_waited() {
    const std::uint64_t begin = exec::clock_ns();
    signal_wait_until(ctx, job.data<std::uint64_t>(), Cmp::kEq, 1);
    return exec::clock_ns() - begin;
  }

  FakeJob job{2};
  Context& ctx = job.context();
};

TEST_F(DeadPe, AWaitThatBeginsLongAfterTheDeathHasItsWholePatience) {
  die();
  job.abort_word().dead_seen_ns = exec::clock_ns() - kLongNs;
  EXPECT_GE(ns_waited(), kPatienceNs);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(job.error().pe, 1);
}

TEST_F(DeadPe, AWaitThatBeganLongBeforeTheDeathHasItsWholePatienceAfterIt) {
  std::uint64_t died = 0;  // just before
  std::thread dying([&] {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kPatienceNs));
    died = exec::clock_ns();
    die();
  });
  ns_waited();
  const std::uint64_t end = exec::clock_ns();
  dying.join();
  EXPECT_GE(end - died, kPatienceNs);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_PEER_DEAD);
}

TEST_F(DeadPe, ALostChannelIsWaitedForAsLong) {
  alignas(64) abi::ChannelFault fault{};
  abi::Channel channel{};
  abi::Watch watch{};
  abi::ChannelPool pool{.channels = &channel, .watch = &watch, .count = 64};
  channel.fault = &fault;
  fault.pe = 1;
  constexpr std::uint64_t kNow = 10 * kLongNs;
  const auto lost = [&](std::uint64_t began_ago, std::uint64_t failed_ago) {
    fault.time_ns = kNow - failed_ago;
    return channel::detail::lost_peer(ctx, pool, kNow - began_ago, kNow);
  };
  EXPECT_EQ(lost(kLongNs, kLongNs), -1) << "none is lost";
  watch.lost = 1;
  EXPECT_EQ(lost(kLongNs, kLongNs), 1);
  EXPECT_EQ(lost(kPatienceNs - 1, kLongNs), -1);
  EXPECT_EQ(lost(kLongNs, kPatienceNs - 1), -1);
  EXPECT_EQ(lost(kPatienceNs, kPatienceNs), 1);
}

// The words that a first touch of PE 1 reads.
class DeadPeAtFirstTouch : public DeadPe {
 protected:
  DeadPeAtFirstTouch() {
    ctx.pe.wait_timeout_ns = 5'000'000'000;
    ctx.channels.route = route.data();
    ctx.channels.opened = opened.data();
    ctx.channels.openings = &openings;
    ctx.channels.slots = 1;
  }
  void ends_by_the_death() {
    std::thread dying([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      job.bury(1);
    });
    EXPECT_EQ(channel::open_route(ctx, 1), 0u);
    dying.join();
    EXPECT_EQ(job.error().status, CHIMEX_ERR_PEER_DEAD);
    EXPECT_EQ(job.error().pe, 1);
  }

  std::array<std::uint32_t, 2> route{}, opened{}, answers{}, claims{};
  std::array<abi::OpenedPeer, 2> peers{};
  std::uint64_t asked = 0, wanted = 0;
  abi::Openings openings{&asked, &wanted, answers.data(), peers.data(), claims.data()};
};

TEST_F(DeadPeAtFirstTouch, NobodyAnswersAnyMore) {
  ends_by_the_death();
  EXPECT_EQ(asked, 1u);
}

// The answer is there, and another thread must carry it over, but does not.
TEST_F(DeadPeAtFirstTouch, NoThreadCarriesTheAnswerOver) {
  answers[1] = abi::answer_word(Path::kNic, 0);
  claims[0] = 1;
  ends_by_the_death();
}

}  // namespace
}  // namespace chime::tests
