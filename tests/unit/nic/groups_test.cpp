// Lanes that post together: the number of requests, reservations and completions.
#include <gtest/gtest.h>

#include <mutex>

#include "nic_job.hpp"
#include "operations_counter.hpp"

namespace chime::tests {
namespace {

class Groups : public EachMode {};

unsigned atomics_on(const void* word, const std::function<void()>& body) {
  unsigned count = 0;
  const WatchOperations watch([&](simt::Operation operation, const void* address, std::size_t) {
    count += operation == simt::Operation::kAtomic && address == word;
  });
  body();
  return count;
}

TEST_P(Groups, LanesThatMeetReserveOnce) {
  for (const unsigned lanes : {1u, 5u, 31u, 32u}) {
    NicJob job(2, plan());
    job.context().pe.wait_timeout_ns = 5'000'000'000;
    const unsigned reservations = atomics_on(&job.nic.queue(1).producer.resv, [&] {
      run_threads(lanes, [&] {
        const unsigned i = exec::lane_id();
        job.to(1).p(job.data<unsigned>(0) + 2 * i, i + 7);  // apart: gather_test.cpp has neighbours
        job.quiet();
      });
    });
    EXPECT_EQ(reservations, 1u) << lanes << " lanes";
    EXPECT_EQ(job.nic.queue(1).progress.status, 0u) << "a completion ends the quiet, and no bound";
    EXPECT_EQ(job.nic.counts(1).requests, lanes);
    EXPECT_EQ(job.nic.counts(1).completions, 1u);
    for (unsigned i = 0; i < lanes; ++i) EXPECT_EQ(job.data<unsigned>(1)[2 * i], i + 7);
  }
}

TEST_P(Groups, EachPeersLanesAreAGroup) {
  NicJob job(4, plan());
  run_threads(32, [&] {
    const unsigned i = exec::lane_id();
    const int pe = 1 + static_cast<int>(i * i % 3);  // 0 and 1 modulo 3: two of the three peers
    job.to(pe).p(job.data<unsigned>(0) + i, i + 7);
    job.quiet();
    EXPECT_EQ(job.data<unsigned>(pe)[i], i + 7);
  });
  EXPECT_EQ(job.nic.counts(1).requests, 11u);
  EXPECT_EQ(job.nic.counts(2).requests, 21u);
  EXPECT_EQ(job.nic.counts(1).completions, 1u);
  EXPECT_EQ(job.nic.counts(2).completions, 1u);
  EXPECT_EQ(job.nic.counts(3).requests, 0u);
}

TEST_P(Groups, EveryLaneGetsItsOwnResult) {
  NicJob job(2, plan());
  std::uint64_t sum = 0;
  std::mutex mutex;
  run_threads(32, [&] {
    const std::uint64_t old =
        job.to(1).fetch_amo(Amo<AmoOp::kAdd, std::uint64_t>{job.data<std::uint64_t>(0), 1});
    const std::lock_guard lock(mutex);
    sum += old;
  });
  EXPECT_EQ(sum, 31u * 32 / 2);
  EXPECT_EQ(job.nic.counts(1).completions, 1u);
}

// Requests of two WQEBBs: the last lane's request gets the completion.
TEST_P(Groups, WideRequestsOfAWarp) {
  NicJob job(2, plan());
  run_threads(32, [&] {
    for (int round = 0; round < 6; ++round) {
      std::uint64_t* const word = job.data<std::uint64_t>(0) + exec::lane_id();
      const std::uint64_t value = 100u * static_cast<unsigned>(round) + exec::lane_id();
      const std::uint64_t old = job.to(1).fetch_amo(Amo<AmoOp::kSet, std::uint64_t>{word, value});
      EXPECT_EQ(old, round == 0 ? 0 : value - 100);
    }
  });
}

// Data and a swap of two WQEBBs from each lane: 96 in one reservation, once around a queue of 128.
TEST_P(Groups, SwappedSignalsOfAWarpTakeOneReservation) {
  NicPlan swapping = plan();
  swapping.flags |= abi::kNicUnorderedWrites | abi::kNicSwapsSignals;
  swapping.reorders = true;
  NicJob job(2, swapping);
  for (unsigned round = 1; round <= 5; ++round) {
    const unsigned reservations = atomics_on(&job.nic.queue(1).producer.resv, [&] {
      run_threads(32, [&] {
        const unsigned i = exec::lane_id();
        const std::uint64_t value = 100 * round + i;
        job.to(1).put_signal<8>(
            Thread{}, {job.data<std::uint64_t>(0) + i, &value, 8, Until::kPosted},
            SignalUpdate{job.data<std::uint64_t>(0, 4096) + i, value, SignalOp::kSet});
        job.quiet();
        EXPECT_EQ(__atomic_load_n(job.data<std::uint64_t>(1) + i, __ATOMIC_ACQUIRE), value);
        EXPECT_EQ(__atomic_load_n(job.data<std::uint64_t>(1, 4096) + i, __ATOMIC_ACQUIRE), value);
      });
    });
    EXPECT_EQ(reservations, 1u);
    EXPECT_EQ(job.nic.counts(1).requests, 64 * round);
    EXPECT_EQ(job.nic.counts(1).completions, round);
    EXPECT_EQ(job.nic.queue(1).progress.done, 96 * round - 1);
  }
}

// Seeds split the lanes into groups of every size.
TEST_P(Groups, AnySplitOfAWarpDelivers) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const WeakMemory weak(seed);
    NicJob job(3, plan());
    run_threads(32, [&] {
      const unsigned i = exec::lane_id();
      const int pe = 1 + static_cast<int>(i % 2);
      job.to(pe).p(job.data<unsigned>(0) + i, i + 7);
      job.quiet();
      EXPECT_EQ(__atomic_load_n(job.data<unsigned>(pe) + i, __ATOMIC_ACQUIRE), i + 7);
    });
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

IN_EACH_MODE(Groups);

}  // namespace
}  // namespace chime::tests
