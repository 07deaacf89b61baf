// How long the proxy's thread sleeps: which events count as work, and for how long they are
// remembered.
#include "proxy/pause.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "net/socket/descriptor.hpp"

namespace chime::proxy {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Sleeps at once, and so long that a busy machine does not blur the difference.
constexpr Pause::Limits kSleepy{.spin = 0ns, .shortest = 1ms, .longest = 2s};

std::uint64_t sleeps(const Counts& counts) {
  std::uint64_t all = 0;
  for (const Count& some : counts.sleeps) all += some.get();
  return all;
}

Clock::duration taken(Pause& pause, int descriptor, bool is_waiting = false) {
  const auto begin = Clock::now();
  if (!pause.yields()) pause.sleep(descriptor, is_waiting);
  return Clock::now() - begin;
}

// Until the next sleep takes at least `length`.
void grow_sleeps(Pause& pause, Clock::duration length) {
  for (int i = 0; i < 20 && taken(pause, -1) < length / 2; ++i) continue;
}

TEST(Pause, GrowsWhileThereIsNothing) {
  Counts counts;
  Pause pause(kSleepy, counts);
  Clock::duration longest{};
  for (int i = 0; i < 9; ++i) longest = std::max(longest, taken(pause, -1));
  EXPECT_GE(longest, 256ms);  // 1 ms, doubled eight times
}

TEST(Pause, StaysShortForAWaiter) {
  Counts counts;
  Pause pause(kSleepy, counts);
  grow_sleeps(pause, 512ms);
  EXPECT_LT(taken(pause, -1, true), 400ms);
}

// Peers send one request after another, and none of them is this PE's own.
TEST(Pause, IsShortAgainBehindWhatCameAtTheDescriptor) {
  Counts counts;
  Pause pause(kSleepy, counts);
  const net::Descriptor event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSERT_TRUE(event);
  grow_sleeps(pause, 512ms);
  eventfd_write(event.get(), 1);
  EXPECT_LT(taken(pause, event.get()), 400ms) << "it slept through what came";
  EXPECT_LT(taken(pause, -1), 400ms) << "it sleeps as if nothing had come";
}

// However little waking costs here, sleeps of a microsecond would take more than a tenth of a core.
TEST(Pause, CostsNextToNothingWhenThereIsNothingForLong) {
  Counts counts;
  Pause pause({.spin = 0ns, .shortest = 1us, .longest = 1us, .idle = 0ns}, counts);
  pause.begin();
  for (unsigned i = 0; i < 4 * net::Upkeep::kSleeps; ++i) taken(pause, -1);
  const auto begin = Clock::now();
  const auto before = net::Upkeep::used();
  while (Clock::now() - begin < 300ms) taken(pause, -1);
  EXPECT_LT((net::Upkeep::used() - before) * 100 / (Clock::now() - begin), 5) << "percent";
}

TEST(Pause, IsNotLateForWhatComesSoon) {
  Counts counts;
  Pause pause({.spin = 0ns, .shortest = 1us, .longest = 1us, .idle = 1h}, counts);
  pause.begin();
  for (unsigned i = 0; i < 4 * net::Upkeep::kSleeps; ++i) taken(pause, -1);
  Clock::duration shortest = 1h;
  for (int i = 0; i < 200; ++i) shortest = std::min(shortest, taken(pause, -1));
  EXPECT_LT(shortest, 200us) << "it sleeps for as long as it costs next to nothing";
}

TEST(Pause, EndsByWake) {
  Counts counts;
  Pause pause(kSleepy, counts);
  grow_sleeps(pause, 1s);
  std::thread waker([&] { pause.wake(); });
  EXPECT_LT(taken(pause, -1), 900ms);
  waker.join();
}

TEST(Pause, YieldsBeforeItSleeps) {
  Counts counts;
  Pause pause({.spin = 10s}, counts);
  EXPECT_TRUE(pause.yields());
}

// With a computing thread on its processor. After two long yields it sleeps for at most 100 ms, and
// then yields again, however busy the machine is.
TEST(Pause, YieldsAgainWhenItHasSleptForAWhile) {
  constexpr unsigned kTimes = 100;
  Counts counts;
  Pause pause({.spin = 60s, .shortest = 50ms, .longest = 50ms}, counts);
  for (unsigned i = 0; i < kTimes; ++i) taken(pause, -1);
  const std::uint64_t yields = kTimes - sleeps(counts);
  EXPECT_LE(sleeps(counts), 2 * yields);
}

cpu_set_t processors() {
  cpu_set_t mine;
  EXPECT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  return mine;
}

void stay_on(const cpu_set_t& set) { ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0); }

cpu_set_t only(std::size_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return set;
}

// One on each processor that the test may use: a thread that yields there waits for a turn of it.
class Busy {
 public:
  Busy() {
    const cpu_set_t all = processors();
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &all))
        threads_.emplace_back([this, cpu] {
          stay_on(only(cpu));
          while (!is_over_.load(std::memory_order_relaxed)) continue;
        });
  }
  ~Busy() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> threads_;
};

// Yields, and sleeps a little where it must, until `is_over` or the time is over.
template <class IsOver>
void rest(Pause& pause, Clock::duration length, IsOver is_over) {
  const auto end = Clock::now() + length;
  while (!is_over() && Clock::now() < end) taken(pause, -1);
}

constexpr Pause::Limits kPatient{.spin = 60s, .shortest = 1ms, .longest = 1ms};

TEST(Pause, TriesAnotherProcessorWhereItsOwnIsCrowded) {
  const cpu_set_t before = processors();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "there is no other";
  const Busy busy;
  Counts counts;
  Pause pause(kPatient, counts);
  rest(pause, 60s, [&] { return counts.moves.get() != 0; });
  EXPECT_EQ(counts.moves.get(), 1u);
  const cpu_set_t after = processors();
  EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "it may not use all that it might use before";
}

// As with CHIME_PROXY_CPU.
TEST(Pause, StaysOnTheOneProcessorThatItMayUse) {
  const cpu_set_t before = processors();
  const Busy busy;
  stay_on(only(static_cast<std::size_t>(sched_getcpu())));
  Counts counts;
  Pause pause(kPatient, counts);
  rest(pause, 60s, [&] { return sleeps(counts) != 0; });
  EXPECT_GT(sleeps(counts), 0u) << "it has not found that it is crowded";
  rest(pause, 500ms, [] { return false; });
  EXPECT_EQ(counts.moves.get(), 0u);
  const cpu_set_t after = processors();
  EXPECT_EQ(CPU_COUNT(&after), 1);
  stay_on(before);
}

}  // namespace
}  // namespace chime::proxy
