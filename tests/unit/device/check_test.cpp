// The refusals of CHIME_CHECK=1, in kernels and on host threads: sizes that overflow, PEs of empty
// transfers, unknown signal operations and comparisons, waits and tests outside the heap.
//
// tests/unit/setup tests the messages for users.
#include "chime/device/check.cuh"

#include <gtest/gtest.h>

#include "chime/device/amo.cuh"
#include "chime/device/coll/barrier.cuh"
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
  Checked() { job.context().pe.checked = 1; }

  // Runs `wrong(context, PE 0's memory)` in a kernel, then on this host thread. Both must record
  // the fault; the kernel's thread must not return.
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
    put_signal(ctx, Thread{}, data, local, kTooMany, SignalUpdate{signal, 1}, 1);
  });
  refused([](const Context& ctx, int* data) {
    iput(ctx, Thread{}, data, local, std::ptrdiff_t{1} << 61, 1, 9, 1);
  });
  refused([](const Context& ctx, int* data) { iget(ctx, Thread{}, local, data, 1, -1, 2, 1); });
  refused([](const Context& ctx, int* data) {
    wait_until_all(ctx, data, kTooMany, nullptr, Cmp::kEq, 0);
  });
}

// With any CHIME_CHECK, to another PE and to this PE's own memory.
TEST_F(Checked, SizesThatOverflowInEveryJob) {
  job.context().pe.checked = 0;
  const auto refused = [&](void (*wrong)(const Context&, int*)) {
    expect_refused(wrong, Fault::kPlace, kUncountable);
  };
  refused([](const Context& ctx, int* data) { put(ctx, Thread{}, data, local, kTooMany, 1); });
  refused([](const Context& ctx, int* data) {
    putmem_nbi(ctx, Thread{}, data, local, ~std::size_t{0}, 1);
  });
  refused([](const Context& ctx, int* data) { get(ctx, Thread{}, local, data, kTooMany, 1); });
  refused([](const Context& ctx, int*) { put(ctx, Thread{}, local, local, kTooMany, 0); });
  refused([](const Context& ctx, int* data) {
    auto* const signal = reinterpret_cast<std::uint64_t*>(data + 2);
    put_signal(ctx, Thread{}, data, local, kTooMany, SignalUpdate{signal, 1}, 1);
  });
  refused([](const Context& ctx, int* data) {
    iput(ctx, Thread{}, data, local, std::ptrdiff_t{1} << 61, 1, 9, 1);
  });
  refused([](const Context& ctx, int* data) { iget(ctx, Thread{}, local, data, 1, -1, 2, 1); });
}

TEST_F(Checked, EmptyTransfersToNoPe) {
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
        const int* const last = reinterpret_cast<int*>(ctx.pe.heap + kFakeHeapBytes) - 1;
        test_any(ctx, last, 2, nullptr, Cmp::kEq, 0);
      },
      8);
}

// A pointer to a T, one byte after an aligned address.
template <class T>
T* misaligned(int* data) {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(data) + 1);
}

TEST_F(Checked, MisalignedWordsOfSignals) {
  const auto refused = [&](void (*wrong)(const Context&, int*)) {
    expect_refused(wrong, Fault::kAlignment, sizeof(std::uint64_t));
  };
  using Word = std::uint64_t;
  refused([](const Context& ctx, int* data) {
    signal_op(ctx, SignalUpdate{misaligned<Word>(data), 7, SignalOp::kSet}, 1);
  });
  refused([](const Context& ctx, int* data) {
    signal_op(ctx, SignalUpdate{misaligned<Word>(data), 7, SignalOp::kAdd}, 1);
  });
  refused([](const Context& ctx, int* data) {
    put_signal(ctx, Thread{}, data + 8, local, 4, SignalUpdate{misaligned<Word>(data), 7}, 1);
  });
  refused([](const Context& ctx, int* data) {
    putmem_signal_nbi(ctx, Thread{}, data + 8, local, 0, SignalUpdate{misaligned<Word>(data), 7},
                      1);
  });
  refused([](const Context& ctx, int* data) { signal_fetch(ctx, misaligned<Word>(data)); });
  refused([](const Context& ctx, int* data) {
    signal_wait_until(ctx, misaligned<Word>(data), Cmp::kEq, 0);
  });
  for (int byte = 0; byte < 16; ++byte) EXPECT_EQ(*job.data<char>(1, byte), 0);
}

TEST_F(Checked, MisalignedWordsOfAtomicsWaitsAndTests) {
  const auto refused = [&](void (*wrong)(const Context&, int*)) {
    expect_refused(wrong, Fault::kAlignment, sizeof(int));
  };
  refused([](const Context& ctx, int* data) { atomic_set(ctx, misaligned<int>(data), 7, 1); });
  refused([](const Context& ctx, int* data) { atomic_fetch(ctx, misaligned<int>(data), 1); });
  refused(
      [](const Context& ctx, int* data) { wait_until(ctx, misaligned<int>(data), Cmp::kEq, 0); });
  refused([](const Context& ctx, int* data) {
    wait_until_any(ctx, misaligned<int>(data), 3, nullptr, Cmp::kEq, 0);
  });
  refused([](const Context& ctx, int* data) { test(ctx, misaligned<int>(data), Cmp::kEq, 0); });
  refused([](const Context& ctx, int* data) {
    test_some(ctx, misaligned<int>(data), 3, nullptr, nullptr, Cmp::kEq, 0);
  });
}

// Their stores and loads have the element's size.
TEST_F(Checked, MisalignedElements) {
  const auto refused = [&](void (*wrong)(const Context&, int*)) {
    expect_refused(wrong, Fault::kAlignment, sizeof(int));
  };
  refused([](const Context& ctx, int* data) { p(ctx, misaligned<int>(data), 7, 1); });
  refused([](const Context& ctx, int* data) { g(ctx, misaligned<int>(data), 1); });
  refused([](const Context& ctx, int* data) {
    put(ctx, Thread{}, misaligned<int>(data), local, 3, 1);
  });
  refused([](const Context& ctx, int* data) {
    get_nbi(ctx, Thread{}, local, misaligned<int>(data), 3, 1);
  });
  refused([](const Context& ctx, int* data) {
    iput(ctx, Thread{}, misaligned<int>(data), local, 1, 1, 3, 1);
  });
  refused([](const Context& ctx, int* data) {
    iget(ctx, Thread{}, local, misaligned<int>(data), 1, 1, 3, 1);
  });
  putmem(job.context(), Thread{}, misaligned<int>(job.data<int>()), local, 5, 1);
  EXPECT_EQ(job.error().claimed, 0u);
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

// ---- The operation in the error -----------------------------------------------------------------

// Each operation, called wrongly.
struct Row {
  Operation operation;
  void (*wrong)(const Context&, int*);
};

// With a PE that does not exist.
const Row kToNobody[] = {
    {Operation::kPut, [](const Context& c, int* d) { put(c, Thread{}, d, local, 2, 9); }},
    {Operation::kPut, [](const Context& c, int* d) { putmem(c, Thread{}, d, local, 0, 9); }},
    {Operation::kPutNbi, [](const Context& c, int* d) { put_nbi(c, Thread{}, d, local, 2, 9); }},
    {Operation::kGet, [](const Context& c, int* d) { get(c, Thread{}, local, d, 2, 9); }},
    {Operation::kGetNbi, [](const Context& c, int* d) { get_nbi(c, Thread{}, local, d, 2, 9); }},
    {Operation::kP, [](const Context& c, int* d) { p(c, d, 1, 9); }},
    {Operation::kG, [](const Context& c, int* d) { g(c, d, 9); }},
    {Operation::kIput, [](const Context& c, int* d) { iput(c, Thread{}, d, local, 1, 1, 2, 9); }},
    {Operation::kIget, [](const Context& c, int* d) { iget(c, Thread{}, local, d, 1, 1, 2, 9); }},
    {Operation::kAtomicFetch, [](const Context& c, int* d) { atomic_fetch(c, d, 9); }},
    {Operation::kAtomicSet, [](const Context& c, int* d) { atomic_set(c, d, 1, 9); }},
    {Operation::kAtomicInc, [](const Context& c, int* d) { atomic_inc(c, d, 9); }},
    {Operation::kAtomicAdd, [](const Context& c, int* d) { atomic_add(c, d, 1, 9); }},
    {Operation::kAtomicAnd, [](const Context& c, int* d) { atomic_and(c, d, 1, 9); }},
    {Operation::kAtomicOr, [](const Context& c, int* d) { atomic_or(c, d, 1, 9); }},
    {Operation::kAtomicXor, [](const Context& c, int* d) { atomic_xor(c, d, 1, 9); }},
    {Operation::kAtomicFetchInc, [](const Context& c, int* d) { atomic_fetch_inc(c, d, 9); }},
    {Operation::kAtomicFetchAdd, [](const Context& c, int* d) { atomic_fetch_add(c, d, 1, 9); }},
    {Operation::kAtomicFetchAnd, [](const Context& c, int* d) { atomic_fetch_and(c, d, 1, 9); }},
    {Operation::kAtomicFetchOr, [](const Context& c, int* d) { atomic_fetch_or(c, d, 1, 9); }},
    {Operation::kAtomicFetchXor, [](const Context& c, int* d) { atomic_fetch_xor(c, d, 1, 9); }},
    {Operation::kAtomicSwap, [](const Context& c, int* d) { atomic_swap(c, d, 1, 9); }},
    {Operation::kAtomicCompareSwap,
     [](const Context& c, int* d) { atomic_compare_swap(c, d, 1, 2, 9); }},
    {Operation::kPutSignal,
     [](const Context& c, int* d) {
       put_signal(c, Thread{}, d, local, 2, SignalUpdate{reinterpret_cast<std::uint64_t*>(d), 1},
                  9);
     }},
    {Operation::kPutSignalNbi,
     [](const Context& c, int* d) {
       put_signal_nbi(c, Thread{}, d, local, 2,
                      SignalUpdate{reinterpret_cast<std::uint64_t*>(d), 1}, 9);
     }},
    {Operation::kSignalOp,
     [](const Context& c, int* d) {
       signal_op(c, SignalUpdate{reinterpret_cast<std::uint64_t*>(d), 1, SignalOp::kAdd}, 9);
     }},
};

std::size_t found[2];
int targets[2];

// With memory outside the heap.
const Row kElsewhere[] = {
    {Operation::kSignalFetch, [](const Context& c, int*) { signal_fetch(c, &local_signal); }},
    {Operation::kSignalWaitUntil,
     [](const Context& c, int*) { signal_wait_until(c, &local_signal, Cmp::kEq, 0); }},
    {Operation::kWaitUntil, [](const Context& c, int*) { wait_until(c, local, Cmp::kEq, 0); }},
    {Operation::kWaitUntilAll,
     [](const Context& c, int*) { wait_until_all(c, local, 2, nullptr, Cmp::kEq, 0); }},
    {Operation::kWaitUntilAny,
     [](const Context& c, int*) { wait_until_any(c, local, 2, nullptr, Cmp::kEq, 0); }},
    {Operation::kWaitUntilSome,
     [](const Context& c, int*) { wait_until_some(c, local, 2, found, nullptr, Cmp::kEq, 0); }},
    {Operation::kWaitUntilAllVector,
     [](const Context& c, int*) {
       wait_until_all_vector(c, local, 2, nullptr, Cmp::kEq, targets);
     }},
    {Operation::kWaitUntilAnyVector,
     [](const Context& c, int*) {
       wait_until_any_vector(c, local, 2, nullptr, Cmp::kEq, targets);
     }},
    {Operation::kWaitUntilSomeVector,
     [](const Context& c, int*) {
       wait_until_some_vector(c, local, 2, found, nullptr, Cmp::kEq, targets);
     }},
    {Operation::kTest, [](const Context& c, int*) { test(c, local, Cmp::kEq, 0); }},
    {Operation::kTestAll,
     [](const Context& c, int*) { test_all(c, local, 2, nullptr, Cmp::kEq, 0); }},
    {Operation::kTestAny,
     [](const Context& c, int*) { test_any(c, local, 2, nullptr, Cmp::kEq, 0); }},
    {Operation::kTestSome,
     [](const Context& c, int*) { test_some(c, local, 2, found, nullptr, Cmp::kEq, 0); }},
    {Operation::kTestAllVector,
     [](const Context& c, int*) { test_all_vector(c, local, 2, nullptr, Cmp::kEq, targets); }},
    {Operation::kTestAnyVector,
     [](const Context& c, int*) { test_any_vector(c, local, 2, nullptr, Cmp::kEq, targets); }},
    {Operation::kTestSomeVector,
     [](const Context& c, int*) {
       test_some_vector(c, local, 2, found, nullptr, Cmp::kEq, targets);
     }},
};

TEST_F(Checked, TheOperationIsNamed) {
  const auto names_itself = [&](const Row& row) {
    row.wrong(job.context(), job.data<int>());
    EXPECT_EQ(job.error().claimed, 2u);
    EXPECT_EQ(job.error().operation, static_cast<unsigned>(row.operation));
    job.error() = {};
  };
  for (const Row& row : kToNobody) names_itself(row);
  for (const Row& row : kElsewhere) names_itself(row);
}

TEST_F(Checked, TheOperationOfAnUnreachablePeIsNamed) {
  job.unmap(1);
  barrier_all(job.context(), Thread{});
  EXPECT_EQ(job.error().operation, static_cast<unsigned>(Operation::kBarrierAll));
  job.error() = {};
  sync_all(job.context(), Thread{});
  EXPECT_EQ(job.error().operation, static_cast<unsigned>(Operation::kSyncAll));
}

}  // namespace
}  // namespace chime::tests
