// Seeds: the same seed gives a block the same schedule, different seeds different ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;

constexpr unsigned kThreads = 48;
using Log = std::vector<unsigned>;

// Each thread writes its rank three times, and lets others run between.
CHIME_KERNEL void log_turns(unsigned* log, unsigned* length) {
  for (int i = 0; i < 3; ++i) {
    log[exec::atomic_add(length, 1u)] = exec::thread_rank();
    exec::pause();
  }
}

Log turns_of_seed(std::uint64_t seed, int launches = 1) {
  simt::Options options = simt::options();
  options.seed = seed;
  simt::set_options(options);
  Log log(3 * kThreads);
  exec::LaunchConfig config;
  config.block = kThreads;
  for (int i = 0; i < launches; ++i) {
    unsigned length = 0;
    EXPECT_EQ(exec::launch(config, log_turns, log.data(), &length), CHIMEX_OK);
    EXPECT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  }
  options.seed = 0;
  simt::set_options(options);
  return log;
}

TEST(Schedule, RoundRobinWithoutASeed) {
  Log expected;
  for (int i = 0; i < 3; ++i) {
    for (unsigned rank = 0; rank < kThreads; ++rank) expected.push_back(rank);
  }
  EXPECT_EQ(turns_of_seed(0), expected);
}

TEST(Schedule, SameSeedSameSchedule) {
  EXPECT_EQ(turns_of_seed(42), turns_of_seed(42));
  EXPECT_EQ(turns_of_seed(42, 3), turns_of_seed(42, 3));
}

TEST(Schedule, LaunchesOfOneSeedDiffer) { EXPECT_NE(turns_of_seed(42), turns_of_seed(42, 2)); }

TEST(Schedule, SeedsDiffer) {
  std::set<Log> schedules;
  std::set<unsigned> first;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Log log = turns_of_seed(seed);
    schedules.insert(log);
    first.insert(log.front());
    for (unsigned rank = 0; rank < kThreads; ++rank) {
      EXPECT_EQ(std::count(log.begin(), log.end(), rank), 3);
    }
  }
  EXPECT_EQ(schedules.size(), 100u);
  EXPECT_GT(first.size(), kThreads / 2);  // any thread may be the first
}

// The first threads only wait, so many turns each; the others are in the block's barrier.
constexpr unsigned kTurns = 1000;
CHIME_KERNEL void wait_beside_a_barrier(unsigned waiting, unsigned* idle_turns) {
  if (exec::thread_rank() < waiting) {
    for (unsigned i = 0; i < kTurns; ++i) exec::pause();
    if (exec::thread_rank() == 0) *idle_turns = simt::current()->block->idle_turns;
  }
  exec::sync_block();
}

unsigned idle_turns(std::uint64_t seed, unsigned waiting) {
  simt::Options options = simt::options();
  options.seed = seed;
  simt::set_options(options);
  unsigned idle = 0;
  exec::LaunchConfig config;
  config.block = kThreads;
  EXPECT_EQ(exec::launch(config, wait_beside_a_barrier, waiting, &idle), CHIMEX_OK);
  EXPECT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  options.seed = 0;
  simt::set_options(options);
  return idle;
}

// A block yields, and naps, by its idle turns: each has as many turns as runnable threads.
TEST(Schedule, ATurnIsIdleWhenAllThatCanRunHaveWaited) {
  for (const std::uint64_t seed : {0, 1, 42})
    for (const unsigned waiting : {1u, kThreads}) {
      const unsigned idle = idle_turns(seed, waiting);
      EXPECT_GT(idle, kTurns * 3 / 4) << "seed " << seed << ", " << waiting << " wait";
      EXPECT_LT(idle, kTurns * 5 / 4) << "seed " << seed << ", " << waiting << " wait";
    }
}

// A defect that the round robin never shows: thread 1 must not run before thread 0.
CHIME_KERNEL void order_dependent(int* box, int* seen) {
  if (exec::thread_rank() == 0) exec::st(box, 1);
  if (exec::thread_rank() == 1) *seen = exec::ld(box);
}

TEST(Schedule, SeedsShowOrderDependence) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    simt::Options options = simt::options();
    options.seed = seed;
    simt::set_options(options);
    int box = 0, seen = 0;
    exec::LaunchConfig config;
    config.block = 2;
    ASSERT_EQ(exec::launch(config, order_dependent, &box, &seen), CHIMEX_OK);
    ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
    EXPECT_TRUE(seed != 0 || seen == 1);
    wrong += seen == 0;
  }
  EXPECT_GT(wrong, 20);
  EXPECT_LT(wrong, 80);
}

}  // namespace
