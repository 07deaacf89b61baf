// Elements that lanes of a warp put to adjacent addresses: one request carries all of them.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "chime/device/rma.cuh"
#include "chime/device/simt/exec/export.hpp"
#include "nic_job.hpp"
#include "operations_counter.hpp"

namespace chime::tests {
namespace {

class Gather : public EachMode {};

constexpr std::byte kGuard{0xa5};
constexpr unsigned kMargin = 16;  // bytes before and behind what is written

// TSan finds a race in the executed code whichever thread came first: it needs the splits of a
// warp, but not each of them in many orders.
constexpr std::uint64_t kSeeds = CHIME_SIMT_TSAN ? 20 : 100;

template <class Body>
void for_each_size(Body body) {
  body(std::uint8_t{});
  body(std::uint16_t{});
  body(std::uint32_t{});
  body(std::uint64_t{});
}

// Different in each byte, lane and round.
template <class Word>
Word value_of(unsigned lane, unsigned round = 0) {
  Word value;
  for (unsigned i = 0; i < sizeof(Word); ++i)
    reinterpret_cast<std::uint8_t*>(&value)[i] =
        static_cast<std::uint8_t>(lane * sizeof(Word) + i + 1 + 37 * round);
  return value;
}

// The contents that PE 1 must have: the values of `lanes`, guards around them.
template <class Word>
void expect_values(NicJob& job, std::size_t offset, unsigned lanes, unsigned round = 0) {
  std::vector<std::byte> expected(kMargin + lanes * sizeof(Word) + kMargin, kGuard);
  for (unsigned i = 0; i < lanes; ++i) {
    const Word value = value_of<Word>(i, round);
    std::memcpy(expected.data() + kMargin + i * sizeof(Word), &value, sizeof(Word));
  }
  const std::byte* const there = job.data<std::byte>(1, offset - kMargin);
  EXPECT_EQ(expected, std::vector<std::byte>(there, there + expected.size()))
      << lanes << " lanes, " << sizeof(Word) << " bytes each, round " << round;
}

void fill_with_guards(NicJob& job, int pe = 1) {
  std::memset(job.data<std::byte>(pe), std::to_integer<int>(kGuard), 4096);
}

TEST_P(Gather, NeighboursOfAnySizeAndNumberAreOneRequest) {
  for_each_size([]<class Word>(Word) {
    for (unsigned lanes = 2; lanes <= 32; ++lanes) {
      NicJob job(2, plan());
      fill_with_guards(job);
      run_threads(lanes, [&] {
        const unsigned i = exec::lane_id();
        job.to(1).p(job.data<Word>(0, 64) + i, value_of<Word>(i));
        job.quiet();
      });
      expect_values<Word>(job, 64, lanes);
      EXPECT_EQ(job.nic.counts(1).requests, 1u);
      EXPECT_EQ(job.nic.counts(1).completions, 1u);
      EXPECT_EQ(job.nic.queue(1).progress.done, 1u) << "the first unit is told";
    }
  });
}

// Control, header, data and halves of 8-byte elements lie on either side of the ring's end.
TEST_P(Gather, GoesAroundTheRingsEnd) {
  for_each_size([]<class Word>(Word) {
    for (const std::uint64_t start : {123, 124, 125, 126, 127, 65535}) {
      NicPlan late = plan();
      late.start = late.cq_start = start;
      NicJob job(2, late);
      fill_with_guards(job);
      for (unsigned round = 0; round < 60; ++round) {
        run_threads(32, [&] {
          const unsigned i = exec::lane_id();
          job.to(1).p(job.data<Word>(0, 64) + i, value_of<Word>(i, round));
          job.quiet();
        });
        expect_values<Word>(job, 64, 32, round);
      }
      EXPECT_EQ(job.nic.counts(1).requests, 60u);
    }
  });
}

// Each becomes a request of its lane, as before, in one reservation.
void expect_apart(const NicPlan& plan, unsigned (*element_of)(unsigned lane)) {
  NicJob job(2, plan);
  run_threads(32, [&] {
    const unsigned i = exec::lane_id();
    job.to(1).p(job.data<unsigned>(0) + element_of(i), 100 + element_of(i));
    job.quiet();
  });
  EXPECT_EQ(job.nic.counts(1).requests, 32u);
  EXPECT_EQ(job.nic.counts(1).completions, 1u);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(job.data<unsigned>(1)[element_of(i)], 100 + element_of(i));
}

TEST_P(Gather, OtherElementsAreRequestsOfTheirOwn) {
  expect_apart(plan(), [](unsigned i) { return 2 * i; });
  expect_apart(plan(), [](unsigned i) { return 31 - i; });
  expect_apart(plan(), [](unsigned) { return 5u; });
  expect_apart(plan(), [](unsigned i) { return i == 31 ? 32 : i; });
  expect_apart(plan(), [](unsigned i) { return i == 0 ? 40 : i; });
}

// By rank, not by lane: 1, 3, 5 and so on may be neighbours, too.
TEST_P(Gather, EachPeersLanesAreGathered) {
  NicJob job(3, plan());
  run_threads(32, [&] {
    const unsigned i = exec::lane_id();
    job.to(1 + static_cast<int>(i % 2)).p(job.data<unsigned>(0) + i / 2, i + 7);
    job.quiet();
  });
  for (const int pe : {1, 2}) {
    EXPECT_EQ(job.nic.counts(pe).requests, 1u);
    for (unsigned i = 0; i < 16; ++i)
      EXPECT_EQ(job.data<unsigned>(pe)[i], 2 * i + static_cast<unsigned>(pe) - 1 + 7);
  }
}

TEST_P(Gather, LanesThatSkipAreNotMissed) {
  NicJob job(2, plan());
  run_threads(32, [&] {
    const unsigned i = exec::lane_id();
    if (i % 5 == 0) return;
    job.to(1).p(job.data<unsigned>(0) + (i - 1 - i / 5), i);
    job.quiet();
  });
  EXPECT_EQ(job.nic.counts(1).requests, 1u);
  for (unsigned i = 1, at = 0; i < 32; ++i)
    if (i % 5 != 0) EXPECT_EQ(job.data<unsigned>(1)[at++], i);
}

// Unchecked: a NIC accepts bytes at any address.
TEST_P(Gather, ElementsThatAreNotAlignedArriveAllTheSame) {
  for_each_size([]<class Word>(Word) {
    NicJob job(2, plan());
    fill_with_guards(job);
    const auto there = reinterpret_cast<std::uintptr_t>(job.data<std::byte>(0, 67));
    run_threads(32, [&] {
      const unsigned i = exec::lane_id();
      const auto at = there + i * sizeof(Word);
      job.to(1).p(reinterpret_cast<Word*>(at), value_of<Word>(i));
      job.quiet();
    });
    expect_values<Word>(job, 67, 32);
    EXPECT_EQ(job.nic.counts(1).requests, 1u);
  });
}

TEST_P(Gather, AFailureIsReportedForAllThatTheRequestWrites) {
  constexpr unsigned kRemoteAccess = 0x13;
  NicJob job(2, plan());
  job.nic.fail_at(1, 5, kRemoteAccess);
  run_threads(32, [&] {
    const unsigned i = exec::lane_id();
    for (unsigned round = 0; round < 2; ++round)
      job.to(1).p(job.data<std::uint64_t>(0, 4096 * round) + i, std::uint64_t{i});
    job.quiet();
  });
  const abi::ChannelFault& fault = job.nic.fault(1);
  EXPECT_EQ(fault.request, 5);
  EXPECT_EQ(fault.opcode, 0x08);
  EXPECT_EQ(fault.syndrome, kRemoteAccess);
  EXPECT_EQ(fault.bytes, 32u * 8);
  EXPECT_EQ(fault.address, reinterpret_cast<std::uint64_t>(job.data<std::byte>(0, 4096)));
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.job.error().expected, 32u * 8);
}

TEST_P(Gather, AFullRingMakesItWait) {
  NicJob job(2, plan());
  job.nic.hold();
  std::thread posters([&] {
    run_threads(64, [&] {
      const unsigned i = exec::thread_rank();
      for (unsigned round = 0; round < 50; ++round)
        job.to(1).p(job.data<std::uint64_t>(0, 512 * round) + i, value_of<std::uint64_t>(i, round));
      job.quiet();
    });
  });
  auto& resv = job.nic.queue(1).producer.resv;
  while (__atomic_load_n(&resv, __ATOMIC_ACQUIRE) <= 128) std::this_thread::yield();
  EXPECT_EQ(job.nic.counts(1).requests, 0u);
  job.nic.go_on();
  posters.join();
  EXPECT_EQ(job.nic.counts(1).requests, 100u);
  for (unsigned round = 0; round < 50; ++round)
    for (unsigned i = 0; i < 64; ++i)
      EXPECT_EQ(job.data<std::uint64_t>(1, 512 * round)[i], value_of<std::uint64_t>(i, round));
}

// `done` stops 4 WQEBBs before the end of a request of 5. So the WQEBBs between it and `ready`
// count from there: otherwise 31 WQEBBs without a doorbell and 96 after them would not fit.
TEST_P(Gather, TheLeastDepthIsEnoughBehindALongRequest) {
  NicPlan swapping = plan();
  swapping.flags |= abi::kNicUnorderedWrites | abi::kNicSwapsSignals;
  swapping.start = swapping.cq_start = 27;
  NicJob job(2, swapping);
  auto* const words = job.data<std::uint64_t>(0);
  run_threads(32, [&] {
    const unsigned i = exec::lane_id();
    job.to(1).p(words + i, std::uint64_t{i});
    job.quiet();
  });
  ASSERT_EQ(job.nic.queue(1).producer.resv, 32u);
  ASSERT_EQ(job.nic.queue(1).progress.done, 28u);
  run_threads(1, [&] {
    const auto write = [&](const nic::QueueView& view, std::uint64_t index, bool) {
      for (unsigned i = 0; i < 31; ++i)
        nic::put_inline_write({view, index + i, i == 30},
                              nic::remote_word(job.context(), job.nic.queue(1), words + i), 8,
                              nic::inline_data_of(std::uint64_t{50 + i}));
    };
    nic::submit(job.context(), channel::Alone{}, job.nic.queue(1), {.units = 31, .more = true},
                write);
  });
  run_threads(32, [&] {
    const std::uint64_t i = exec::lane_id();
    job.to(1).put_signal<8>(Thread{}, {words + 64 + i, &i, 8, Until::kPosted},
                            SignalUpdate{words + 128 + i, i + 1, SignalOp::kSet});
    job.quiet();
  });
  EXPECT_EQ(job.job.error().claimed, 0u) << "somebody waited in vain";
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(job.data<std::uint64_t>(1)[i], i == 31 ? 31u : 50 + i);
    EXPECT_EQ(job.data<std::uint64_t>(1)[128 + i], i + 1u);
  }
}

// Adjacent elements need no stride: 71 of them by a warp are three requests.
TEST_P(Gather, AStridedPutOfStrideOneIsGathered) {
  NicJob job(2, plan());
  std::vector<double> source(71);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<double>(i) + 0.5;
  double* const there = job.data<double>(0);
  run_threads(32, [&] {
    iput(job.context(), Warp{}, there, source.data(), 1, 1, source.size(), 1);
    job.quiet();
  });
  EXPECT_EQ(job.nic.counts(1).requests, 3u);
  for (std::size_t i = 0; i < source.size(); ++i) EXPECT_EQ(job.data<double>(1)[i], source[i]);
  run_threads(64, [&] {
    iput(job.context(), Block{}, there + 100, source.data(), 2, 1, source.size(), 1);
    job.quiet();
  });
  EXPECT_EQ(job.nic.counts(1).requests, 3u + 71);
  for (std::size_t i = 0; i < source.size(); ++i)
    EXPECT_EQ(job.data<double>(1)[100 + 2 * i], source[i]);
}

// Seeds split the lanes into groups of every size, and delay stores as a GPU may.
TEST_P(Gather, AnySplitOfAWarpDelivers) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const WeakMemory weak(seed);
    NicJob job(2, plan());
    run_threads(64, [&] {
      const unsigned i = exec::thread_rank();
      for (unsigned round = 0; round < 4; ++round) {
        job.to(1).p(job.data<std::uint64_t>(0) + i, value_of<std::uint64_t>(i, round));
        job.to(1).p(job.data<std::uint16_t>(0, 1024) + i, value_of<std::uint16_t>(i, round));
      }
      job.quiet();
      EXPECT_EQ(__atomic_load_n(job.data<std::uint64_t>(1) + i, __ATOMIC_ACQUIRE),
                value_of<std::uint64_t>(i, 3));
    });
    for (unsigned i = 0; i < 64; ++i)
      EXPECT_EQ(job.data<std::uint16_t>(1, 1024)[i], value_of<std::uint16_t>(i, 3));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

IN_EACH_MODE(Gather);

}  // namespace
}  // namespace chime::tests
