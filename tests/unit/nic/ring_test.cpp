// The send queue's ring: around its end, past 16 and 32 bits, full, and shared.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "chime/abi/words.h"
#include "nic_job.hpp"

namespace chime::tests {
namespace {

class Ring : public EachMode {};

NicPlan starting_at(NicPlan plan, std::uint64_t start) {
  plan.start = plan.cq_start = start;
  return plan;
}

TEST_P(Ring, GoesOnWhereSixteenBitsEnd) {
  NicJob job(2, starting_at(plan(), 0xfff0));
  run_threads(1, [&] {
    for (int i = 0; i < 600; ++i) job.to(1).p(job.data<int>(0) + i, i + 1);
    job.quiet();
  });
  for (int i = 0; i < 600; ++i) EXPECT_EQ(job.data<int>(1)[i], i + 1);
  EXPECT_EQ(job.nic.queue(1).progress.done, 0xfff0 + 600u);
}

TEST_P(Ring, GoesOnWhereThirtyTwoBitsEnd) {
  NicJob job(2, starting_at(plan(), (std::uint64_t{1} << 32) - 8));
  run_threads(64, [&] {
    for (int i = 0; i < 5; ++i)
      job.to(1).p(job.data<unsigned>(0) + 2 * exec::thread_rank(), exec::thread_rank() + i);
    job.quiet();
  });
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(job.data<unsigned>(1)[2 * i], i + 4);
}

// A request of two WQEBBs that begins with the last of the ring.
TEST_P(Ring, WideRequestsGoAroundTheEnd) {
  NicJob job(2, starting_at(plan(), 127));
  run_threads(1, [&] {
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::uint64_t old =
          job.to(1).fetch_amo(Amo<AmoOp::kSet, std::uint64_t>{job.data<std::uint64_t>(0), i + 1});
      EXPECT_EQ(old, i);
    }
  });
}

TEST_P(Ring, AFullQueueMakesPostersWait) {
  NicJob job(2, plan());
  job.nic.hold();
  bool came_back = false;
  std::thread posters([&] {
    run_threads(1, [&] {
      for (int i = 0; i < 500; ++i) job.to(1).p(job.data<int>(0) + i, i + 1);
      came_back = true;
      job.quiet();
    });
  });
  auto& resv = job.nic.queue(1).producer.resv;
  while (__atomic_load_n(&resv, __ATOMIC_ACQUIRE) < 129) std::this_thread::yield();
  EXPECT_FALSE(came_back);
  EXPECT_EQ(job.nic.counts(1).requests, 0u);
  job.nic.go_on();
  posters.join();
  EXPECT_TRUE(came_back);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(job.data<int>(1)[i], i + 1);
}

// A completion that another poller has taken, or that this one read long ago, is not a new one.
TEST_P(Ring, AnOldCompletionMovesNothing) {
  NicJob job(2, plan());
  abi::Channel& queue = job.nic.queue(1);
  queue.progress.done = 1000;
  const auto done_after = [&](std::uint16_t counter) {
    return nic::detail::take_completion(queue, nullptr, abi::be16(counter), 1000);
  };
  EXPECT_EQ(done_after(999), 1000u);
  EXPECT_EQ(done_after(990), 1000u);
  EXPECT_EQ(queue.progress.done, 1000u);
  EXPECT_EQ(done_after(1000), 1001u);
  EXPECT_EQ(queue.progress.done, 1001u);
}

// One poster finds another after it and leaves the doorbell to it; that one has more to post, but
// its later work may wait for the requests that it took over.
TEST_P(Ring, ADoorbellThatIsOwedIsRungByAPosterThatHasMoreToCome) {
  NicJob job(2, plan());
  auto& producer = job.nic.queue(1).producer;
  const auto await_reservations = [&](std::uint64_t n) {
    while (__atomic_load_n(&producer.resv, __ATOMIC_ACQUIRE) < n) exec::pause();
  };
  const auto write = [&](const nic::QueueView& view, std::uint64_t index, bool is_last) {
    nic::put_inline_write(
        {view, index, is_last},
        nic::remote_word(job.context(), job.nic.queue(1), job.data<int>(0) + index), sizeof(int),
        nic::inline_data_of(17));
  };
  run_threads(64, [&] {
    if (exec::thread_rank() == 0) {
      nic::submit(job.context(), Thread{}, job.nic.queue(1), {.units = 1},
                  [&](const nic::QueueView& view, std::uint64_t index, bool is_last) {
                    write(view, index, is_last);
                    await_reservations(2);
                  });
    } else if (exec::thread_rank() == 32) {
      await_reservations(1);
      nic::submit(job.context(), Thread{}, job.nic.queue(1), {.units = 1, .more = true}, write);
    }
  });
  ASSERT_EQ(job.nic.rung(1), 2u);
  run_threads(1, [&] { job.quiet(); });
  EXPECT_EQ(job.data<int>(1)[0], 17);
}

// 1024 threads and a queue of 128: all wait for room, for turns, for readers of slots.
TEST_P(Ring, ADeepCrowdOnAShallowQueue) {
  NicJob job(2, plan());
  std::vector<std::uint64_t> old(3 * 1024);
  run_threads(1024, [&] {
    for (unsigned i = 0; i < 3; ++i) {
      job.to(1).amo(Amo<AmoOp::kAdd, std::uint64_t>{job.data<std::uint64_t>(0), 1});
      old[i * 1024 + exec::thread_rank()] =
          job.to(1).fetch_amo(Amo<AmoOp::kAdd, std::uint64_t>{job.data<std::uint64_t>(0), 1});
    }
    job.quiet();
  });
  EXPECT_EQ(*job.data<std::uint64_t>(1), 6 * 1024u);
  EXPECT_EQ(std::set(old.begin(), old.end()).size(), old.size()) << "two threads had one result";
}

NicPlan swapping_signals(NicPlan plan) {
  plan.flags |= abi::kNicUnorderedWrites | abi::kNicSwapsSignals;
  plan.reorders = true;
  return plan;
}

// 32 warps that reserve 96 WQEBBs each, of 128: the rule of the least depth.
TEST_P(Ring, ACrowdOfSwappedSignalsOnAShallowQueue) {
  NicJob job(2, swapping_signals(plan()));
  run_threads(1024, [&] {
    const unsigned i = exec::thread_rank();
    for (std::uint64_t round = 1; round <= 3; ++round)
      job.to(1).put_signal<8>(
          Thread{}, {job.data<std::uint64_t>(0) + i, &round, 8, Until::kPosted},
          SignalUpdate{job.data<std::uint64_t>(0, 64 * 1024) + i, round, SignalOp::kSet});
    job.quiet();
  });
  for (unsigned i = 0; i < 1024; ++i) {
    EXPECT_EQ(job.data<std::uint64_t>(1)[i], 3u);
    EXPECT_EQ(job.data<std::uint64_t>(1, 64 * 1024)[i], 3u);
  }
}

// Each WQEBB of data and signal lies at the end of the ring once.
TEST_P(Ring, SwappedSignalsGoAroundTheEnd) {
  for (const std::uint64_t start : {124, 125, 126, 127}) {
    NicJob job(2, starting_at(swapping_signals(plan()), start));
    run_threads(1, [&] {
      for (std::uint64_t value = 1; value <= 100; ++value) {
        job.to(1).put_signal<8>(
            Thread{}, {job.data<std::uint64_t>(0), &value, 8, Until::kPosted},
            SignalUpdate{job.data<std::uint64_t>(0, 64), value, SignalOp::kSet});
        job.quiet();
        EXPECT_EQ(*job.data<std::uint64_t>(1), value);
        EXPECT_EQ(*job.data<std::uint64_t>(1, 64), value);
      }
    });
    EXPECT_EQ(job.nic.queue(1).progress.done, start + 300 - 1);
  }
}

TEST_P(Ring, BlocksShareQueuesAndQuietSeesAllOfThem) {
  NicPlan two = plan();
  two.slots = 2;
  NicJob job(3, two);
  run_grid(4, 32, [&] {
    const unsigned i = static_cast<unsigned>(exec::grid_rank());
    for (int pe = 1; pe < 3; ++pe) job.to(pe).p(job.data<unsigned>(0) + 2 * i, i + 1);
    job.quiet();
    for (int pe = 1; pe < 3; ++pe) EXPECT_EQ(job.data<unsigned>(pe)[2 * i], i + 1);
  });
  EXPECT_EQ(job.nic.counts(1, 0).requests, 64u);
  EXPECT_EQ(job.nic.counts(1, 1).requests, 64u);
}

// With one queue to a peer a fence waits for nothing; with two it does.
TEST_P(Ring, FenceIsFreeForOneQueueAndDrainsTwo) {
  NicPlan two = plan();
  two.slots = 2;
  NicJob job(2, two);
  job.nic.hold();
  run_grid(1, 1, [&] {
    job.to(1).p(job.data<int>(0), 1);
    job.fence();
  });
  EXPECT_EQ(job.nic.queue(1, 0).progress.done, 0u);
  job.nic.go_on();
  run_grid(2, 1, [&] {
    job.to(1).p(job.data<int>(0) + exec::block_rank(), 1);
    job.fence();
    const auto& mine = job.nic.queue(1, exec::block_rank());
    if (exec::block_rank() == 1) {
      EXPECT_EQ(__atomic_load_n(&mine.progress.done, __ATOMIC_ACQUIRE), 1u);
    }
  });
}

// A free fence of block 0, then a put of block 1 by the other queue: the first post there drains.
TEST_P(Ring, TheFirstPostOfAQueueDrainsThePeersOthers) {
  NicPlan two = plan();
  two.slots = 2;
  NicJob job(2, two);
  std::uint64_t done = 0;
  run_grid(1, 1, [&] {
    job.to(1).p(job.data<int>(0), 1);
    job.fence();
  });
  run_grid(2, 1, [&] {
    if (exec::block_rank() == 0) return;
    job.to(1).p(job.data<int>(0), 2);
    done = __atomic_load_n(&job.nic.queue(1, 0).progress.done, __ATOMIC_ACQUIRE);
    job.quiet();
  });
  EXPECT_EQ(done, 1u);
  EXPECT_EQ(*job.data<int>(1), 2);
}

// Nor may another thread there overtake the drained requests.
TEST_P(Ring, NobodyPostsWhileTheFirstPosterDrains) {
  NicPlan two = plan();
  two.slots = 2;
  NicJob job(2, two);
  job.nic.hold();
  run_grid(1, 1, [&] { job.to(1).p(job.data<int>(0), 1); });
  std::thread posters([&] {
    run_grid(2, 64, [&] {
      if (exec::block_rank() == 0) return;
      job.to(1).p(job.data<int>(0) + exec::thread_rank(), 2);
      job.quiet();
    });
  });
  const std::uint64_t both_slots = 3u << 2;  // of PE 1
  while ((__atomic_load_n(job.nic.channels().pool.touched, __ATOMIC_ACQUIRE) & both_slots) !=
         both_slots)
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(__atomic_load_n(&job.nic.queue(1, 1).producer.resv, __ATOMIC_ACQUIRE), 0u)
      << "somebody did not wait";
  job.nic.go_on();
  posters.join();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(job.data<int>(1)[i], 2);
}

TEST_P(Ring, StagingSlotsAreSharedByMany) {
  NicPlan few = plan();
  few.staging_slots = 4;  // two for a peer
  NicJob job(2, few);
  run_threads(64, [&] {
    std::byte source[300], target[300] = {};
    for (std::size_t i = 0; i < 300; ++i) source[i] = std::byte(i + exec::thread_rank());
    std::byte* const there = job.data<std::byte>(0, exec::thread_rank() * 512);
    job.to(1).put<1>(Thread{}, {there, source, 300, Until::kPosted});
    job.to(1).get<1>(Thread{}, {target, there, 300, Until::kLocal});
    EXPECT_EQ(std::memcmp(source, target, 300), 0);
  });
}

// Schedules and delays of stores that a GPU allows, with the record, doorbell and requests watched.
TEST_P(Ring, HoldsUnderWeakMemoryAndAnySchedule) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const WeakMemory weak(seed);
    NicPlan two = plan();
    two.slots = 2;
    NicJob job(2, two);
    run_grid(2, 40, [&] {
      const auto i = exec::grid_rank();
      job.to(1).p(job.data<std::uint64_t>(0, 64) + i, i + 1);
      job.to(1).amo(Amo<AmoOp::kAdd, std::uint64_t>{job.data<std::uint64_t>(0), 1});
      const std::uint64_t mine = job.to(1).g(job.data<std::uint64_t>(0, 64) + i);
      EXPECT_EQ(mine, i + 1);
      job.quiet();
    });
    EXPECT_EQ(*job.data<std::uint64_t>(1), 80u);
    if (HasFailure() || !job.nic.complaints().empty()) FAIL() << "seed " << seed;
  }
}

IN_EACH_MODE(Ring);

// Another context's channels come before: no call polls or drains them.
TEST(Pool, AContextKeepsToItsStretch) {
  NicPlan plan;
  plan.first = 128;
  plan.slots = 2;
  NicJob job(3, plan);
  abi::Channel& foreign = job.nic.channels().pool.channels[1];
  foreign.head.path = Path::kNic;
  foreign.head.depth = 128;
  foreign.producer.ready = 5;  // never complete
  foreign.progress.status = abi::status_word(abi::Stop::kClosed);
  foreign.progress.done = abi::kStopped;
  job.nic.channels().pool.touched[0] = 1 << 1;
  run_threads(1, [&] {
    for (int pe = 0; pe < 3; ++pe) job.to(pe).p(job.data<int>(0), 40 + pe);
    job.fence();
    job.quiet();
  });
  for (int pe = 0; pe < 3; ++pe) {
    EXPECT_EQ(*job.data<int>(pe), 40 + pe);
    EXPECT_EQ(job.nic.queue(pe).progress.done, 1u);
  }
  EXPECT_EQ(job.nic.channels().pool.touched[2], 0b010101u);
  EXPECT_EQ(job.job.error().claimed, 0u);
}

}  // namespace
}  // namespace chime::tests
