// What CHIME_CHECK=1 refuses, in kernels and on host threads: sizes that overflow, PEs of empty
// transfers, unknown signal operations and comparisons, waits and tests outside the heap.
//
// The words that users see are tested in tests/unit/setup.
#include "chime/device/check.cuh"

#include <gtest/gtest.h>

#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "fake_job.hpp"

namespace chime::tests {
namespace {

// 2^62 + 1 integers: 4 bytes, if their size is taken modulo 2^64.
constexpr std::size_t kTooMany = (std::size_t{1} << 62) + 1;
constexpr std::uint64_t kUncountable = ~std::uint64_t{0};

class Checked : public testing::Test {
 protected:
  Checked() { job.context().checked = 1; }

  // Runs `wrong(context, pe 0's memory)` in a kernel, then on this host thread. Both must record
  // it; the kernel's thread must not come back.
  void expect_refused(void (*wrong)(const Context&, int*), Fault fault, std::uint64_t expected) {
    bool came_back = false;
    run_block(1, in_kernel, job.context(), wrong, job.data<int>(), &came_back);
    EXPECT_FALSE(came_back);
    expect_record(fault, expected);
    wrong(job.context(), job.data<int>());
    expect_record(fault, expected);
  }

  FakeJob job{2};

 private:
  static CHIME_KERNEL void in_kernel(Context ctx, void (*wrong)(const Context&, int*), int* data,
                                     bool* came_back) {
    wrong(ctx, data);
    *came_back = true;
  }

  void expect_record(Fault fault, std::uint64_t expected) {
    EXPECT_EQ(job.error().claimed, 2u);
    EXPECT_EQ(job.error().status, CHIMEX_ERR_INVALID);
    EXPECT_EQ(job.error().wait, static_cast<unsigned>(WaitKind::kNone));
    EXPECT_EQ(job.error().fault, static_cast<unsigned>(fault));
    EXPECT_EQ(job.error().expected, expected);
    job.error() = {};
  }
};

int local[4];
std::uint64_t local_signal;

TEST_F(Checked, SizesThatOverflow) {
  const auto refused = [&](void (*wrong)(const Context&, int*)) {
    expect_refused(wrong, Fault::kPlace, kUncountable);
  };
  refused([](const Context& ctx, int* data) { put(ctx, Thread{}, data, local, kTooMany, 1); });
  refused([](const Context& ctx, int* data) { put_nbi(ctx, Thread{}, data, local, kTooMany, 1); });
  refused([](const Context& ctx, int* data) { get(ctx, Thread{}, local, data, kTooMany, 1); });
  refused([](const Context& ctx, int* data) {
    auto* const signal = reinterpret_cast<std::uint64_t*>(data + 2);
    put_signal(ctx, Thread{}, data, local, kTooMany, Signal{signal, 1}, 1);
  });
  refused([](const Context& ctx, int* data) {
    iput(ctx, Thread{}, data, local, std::ptrdiff_t{1} << 61, 1, 9, 1);
  });
  refused([](const Context& ctx, int* data) { iget(ctx, Thread{}, local, data, 1, -1, 2, 1); });
  refused([](const Context& ctx, int* data) {
    wait_until_all(ctx, data, kTooMany, nullptr, Cmp::kEq, 0);
  });
}

TEST_F(Checked, EmptyTransfersToNobody) {
  const auto refused = [&](void (*wrong)(const Context&, int*)) {
    expect_refused(wrong, Fault::kPlace, 0);
  };
  refused([](const Context& ctx, int* data) { put(ctx, Thread{}, data, local, 0, 2); });
  refused([](const Context& ctx, int* data) { getmem_nbi(ctx, Thread{}, local, data, 0, -1); });
  refused([](const Context& ctx, int* data) { iput(ctx, Thread{}, data, local, 1, 1, 0, 2); });
  put(job.context(), Thread{}, job.data<int>(), local, 0, 1);
  EXPECT_EQ(job.error().claimed, 0u);
}

TEST_F(Checked, UnknownSignalOperations) {
  expect_refused(
      [](const Context& ctx, int* data) {
        auto* const signal = reinterpret_cast<std::uint64_t*>(data + 2);
        put_signal(ctx, Thread{}, data, local, 1, signal_of(signal, 7, 42), 1);
      },
      Fault::kSignalOp, 42);
  expect_refused(
      [](const Context& ctx, int* data) {
        signal_op(ctx, signal_of(reinterpret_cast<std::uint64_t*>(data + 2), 7, -1), 1);
      },
      Fault::kSignalOp, kUncountable);
  EXPECT_EQ(*job.data<std::uint64_t>(1, 8), 0u);
}

TEST_F(Checked, LooksOutsideTheHeap) {
  const auto refused = [&](void (*wrong)(const Context&, int*), std::uint64_t bytes) {
    expect_refused(wrong, Fault::kPlace, bytes);
  };
  refused([](const Context& ctx, int*) { wait_until(ctx, local, Cmp::kEq, 0); }, 4);
  refused([](const Context& ctx, int*) { wait_until_any(ctx, local, 3, nullptr, Cmp::kEq, 0); },
          12);
  refused([](const Context& ctx, int*) { signal_wait_until(ctx, &local_signal, Cmp::kEq, 0); }, 8);
  refused([](const Context& ctx, int*) { signal_fetch(ctx, &local_signal); }, 8);
  refused([](const Context& ctx, int*) { test(ctx, local, Cmp::kEq, 0); }, 4);
  refused([](const Context& ctx, int*) { test_all(ctx, local, 2, nullptr, Cmp::kEq, 0); }, 8);
  refused(
      [](const Context& ctx, int*) {
        const int* const last = reinterpret_cast<int*>(ctx.heap + kFakeHeapBytes) - 1;
        test_any(ctx, last, 2, nullptr, Cmp::kEq, 0);
      },
      8);
}

TEST_F(Checked, UnknownComparisons) {
  const auto refused = [&](void (*wrong)(const Context&, int*)) {
    expect_refused(wrong, Fault::kComparison, 42);
  };
  constexpr Cmp kUnknown{42};
  refused([](const Context& ctx, int* data) { wait_until(ctx, data, kUnknown, 0); });
  refused([](const Context& ctx, int* data) { test(ctx, data, kUnknown, 0); });
  refused([](const Context& ctx, int* data) {
    signal_wait_until(ctx, reinterpret_cast<std::uint64_t*>(data), kUnknown, 0);
  });
}

CHIME_KERNEL void block_waits_outside(Context ctx, const std::uint64_t* outside, int* went_on) {
  signal_wait_until(ctx, Block{}, outside, Cmp::kEq, 1);
  *went_on = 1;
}

TEST_F(Checked, ARefusedSignalWaitEndsTheWholeBlock) {
  int went_on = 0;
  run_block(64, block_waits_outside, job.context(), &local_signal, &went_on);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_INVALID);
  EXPECT_EQ(went_on, 0);
}

TEST_F(Checked, WaitsWithABoundReturnTheCodeAndRecordNothing) {
  std::uint64_t seen = 0;
  const Context& ctx = job.context();
  EXPECT_EQ(wait_until_timeout(ctx, local, Cmp::kEq, 0, 1000), CHIMEX_ERR_INVALID);
  EXPECT_EQ(wait_until_timeout(ctx, job.data<int>(), Cmp{6}, 0, 1000), CHIMEX_ERR_INVALID);
  EXPECT_EQ(signal_wait_until_timeout(ctx, &local_signal, Cmp::kEq, 0, 1000, &seen),
            CHIMEX_ERR_INVALID);
  EXPECT_EQ(job.error().claimed, 0u);
}

TEST_F(Checked, WhatIsRightPasses) {
  const Context& ctx = job.context();
  int* const data = job.data<int>();
  put(ctx, Thread{}, data, local, 4, 1);
  iput(ctx, Thread{}, data, local, 3, 1, 4, 1);
  wait_until_all(ctx, data, 4, nullptr, Cmp::kEq, 0);
  EXPECT_TRUE(test(ctx, data, Cmp::kEq, 0));
  EXPECT_TRUE(test_all(ctx, local, 0, nullptr, Cmp::kEq, 0));
  signal_op(ctx, signal_of(job.data<std::uint64_t>(0, 64), 7, 1), 1);
  EXPECT_EQ(*job.data<std::uint64_t>(1, 64), 7u);
  EXPECT_EQ(job.error().claimed, 0u);
}

TEST(Unchecked, WhereIsNotAsked) {
  FakeJob job(1);
  EXPECT_TRUE(test(job.context(), local, Cmp::kEq, 0));
  wait_until(job.context(), local, Cmp::kEq, 0);
  put(job.context(), Thread{}, job.data<int>(), local, 0, 99);
  EXPECT_EQ(job.error().claimed, 0u);
}

}  // namespace
}  // namespace chime::tests
