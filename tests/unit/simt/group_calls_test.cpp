// Calls that a block or a warp makes together: all members meet when a call begins and when it
// ends. If no operation is watched, the last thread does the work of all.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;
using exec::Part;

constexpr unsigned kThreads = 77;  // the last warp is partly filled

struct Mode {
  std::uint64_t seed;
  bool weak;
};

class GroupCalls : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    simt::Options options = simt::options();
    options.seed = GetParam().seed;
    options.weak = GetParam().weak;
    simt::set_options(options);
  }
  void TearDown() override { simt::set_options({}); }
  static bool one_does_all() { return GetParam().seed == 0 && !simt::kTsan; }
};

struct Count {
  std::array<std::atomic<unsigned>, 3> parts = {};
  std::atomic<unsigned> began{0}, done{0}, early{0}, late{0};

  unsigned of(Part part) const { return parts[static_cast<unsigned>(part)]; }
};

template <class Kernel, class... A>
void run(Kernel kernel, A... arguments) {
  exec::LaunchConfig config;
  config.block = kThreads;
  ASSERT_EQ(CHIMEX_OK, exec::launch(config, kernel, arguments...));
  ASSERT_EQ(CHIMEX_OK, exec::stream_synchronize({}));
}

// In each call all `size` members have begun before one acts, and all is done before one goes on.
void make_call(Count* count, unsigned size, Part (*enter)(), void (*leave)(Part)) {
  for (unsigned call = 1; call <= 5; ++call) {
    ++count->began;
    const Part part = enter();
    ++count->parts[static_cast<unsigned>(part)];
    if (count->began < call * size) ++count->early;
    for (unsigned turn = 0; part != Part::kNone && turn < 5; ++turn) exec::pause();
    if (part == Part::kAll) count->done += size;
    if (part == Part::kOwn) ++count->done;
    leave(part);
    if (count->done < call * size) ++count->late;
  }
}

CHIME_KERNEL void calls_of_the_block(Count* count) {
  make_call(count, kThreads, exec::enter_whole_block, exec::leave_whole_block);
}

unsigned lanes() {
  const unsigned rest = kThreads - exec::warp_id() * 32;
  return rest < 32 ? ~0u >> (32 - rest) : ~0u;
}
CHIME_KERNEL void calls_of_warps(Count* counts) {
  make_call(
      counts + exec::warp_id(), exec::count_bits(lanes()), [] { return exec::enter_warp(lanes()); },
      [](Part part) { exec::leave_warp(lanes(), part); });
}

void expect_whole(const Count& count, unsigned size, bool by_one) {
  EXPECT_EQ(0u, count.early);
  EXPECT_EQ(0u, count.late);
  EXPECT_EQ(5 * size, count.done);
  EXPECT_EQ(by_one ? 5u : 0u, count.of(Part::kAll));
  EXPECT_EQ(by_one ? 5 * (size - 1) : 0u, count.of(Part::kNone));
  EXPECT_EQ(by_one ? 0u : 5 * size, count.of(Part::kOwn));
}

TEST_P(GroupCalls, OfABlockBeginWhenAllHaveComeAndEndWhenAllIsDone) {
  Count count;
  run(calls_of_the_block, &count);
  expect_whole(count, kThreads, one_does_all());
}

TEST_P(GroupCalls, OfWarpsDoNotWaitForOtherWarps) {
  std::array<Count, 3> counts;
  run(calls_of_warps, counts.data());
  for (unsigned warp = 0; warp < 3; ++warp) {
    SCOPED_TRACE("warp " + std::to_string(warp));
    expect_whole(counts[warp], warp == 2 ? kThreads - 64 : 32, one_does_all());
  }
}

// Members that do not act wait; the kernel ends for them, too.
CHIME_KERNEL void who_acts_for_a_warp_ends_the_kernel(Count* count) {
  if (exec::warp_id() == 0) {
    const Part part = exec::enter_warp(~0u);
    if (part != Part::kNone) exec::end_kernel();
    exec::leave_warp(~0u, part);
  }
  exec::sync_whole_block();
  ++count->late;
}
CHIME_KERNEL void who_acts_for_a_block_ends_the_kernel(Count* count) {
  const Part part = exec::enter_whole_block();
  if (part != Part::kNone) exec::end_kernel();
  exec::leave_whole_block(part);
  ++count->late;
}

TEST_P(GroupCalls, ThatEndTheKernelEndItForAllMembers) {
  Count count;
  run(who_acts_for_a_warp_ends_the_kernel, &count);
  run(who_acts_for_a_block_ends_the_kernel, &count);
  EXPECT_EQ(0u, count.late);
  Count next;
  run(calls_of_the_block, &next);
  expect_whole(next, kThreads, one_does_all());
}

// Another warp ends the kernel while one lane acts for the rest of its warp: all end where the lane
// would release them.
CHIME_KERNEL void ended_by_another_warp(Count* count, bool pauses) {
  if (exec::warp_id() == 1) {
    exec::pause();
    exec::end_kernel();
  }
  if (exec::warp_id() != 0) return;
  const Part part = exec::enter_warp(~0u);
  if (part != Part::kNone) {
    const exec::Committed meanwhile;
    for (int turn = 0; pauses && turn < 20; ++turn) exec::pause();
  }
  exec::leave_warp(~0u, part);
  for (int turn = 0; turn < 1000; ++turn) exec::pause();
  ++count->late;
}

TEST_P(GroupCalls, InAKernelThatAnotherWarpEndsEnd) {
  Count count;
  run(ended_by_another_warp, &count, false);
  run(ended_by_another_warp, &count, true);
  EXPECT_EQ(0u, count.late);
}

CHIME_KERNEL void one_has_ended() {
  if (exec::thread_rank() == 3) return;
  exec::leave_whole_block(exec::enter_whole_block());
}
CHIME_KERNEL void one_calls_something_else() {
  if (exec::thread_rank() == 3) exec::sync_block();
  exec::leave_whole_block(exec::enter_whole_block());
}

TEST_P(GroupCalls, ThatOneMemberDoesNotMakeAreReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run(one_has_ended), "enter_whole_block|sync_whole_block");
  EXPECT_DEATH(run(one_calls_something_else), "divergence: it calls");
}

INSTANTIATE_TEST_SUITE_P(Modes, GroupCalls,
                         testing::Values(Mode{0, false}, Mode{3, false}, Mode{5, true}),
                         [](const auto& info) {
                           return "Seed" + std::to_string(info.param.seed) +
                                  (info.param.weak ? "Weak" : "");
                         });

}  // namespace
