// Every operation once, through memory of every kind, with both forms of completion queue.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "chime/device/rma.cuh"
#include "nic_job.hpp"

namespace chime::tests {
namespace {

class Operations : public EachMode {
 protected:
  NicJob job{3, plan()};
};

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = std::byte(i * 7 + 1);
  return data;
}

// Where a put's source or a get's destination may lie.
enum class Where { kHeap, kBuffer, kElsewhere };

std::byte* memory(NicJob& job, Where where, std::vector<std::byte>& elsewhere) {
  switch (where) {
    case Where::kHeap:
      return job.data<std::byte>(0, 0);
    case Where::kBuffer:
      return job.nic.buffer() + 128;
    case Where::kElsewhere:
      break;
  }
  return elsewhere.data();
}

constexpr std::size_t kSizes[] = {1, 3, 8, 12, 13, 28, 29, 64, 511, 512, 513, 1024, 1500, 5000};
constexpr std::size_t kThere = 64 * 1024;  // offset at the peer

TEST_P(Operations, PutBringsEveryByteFromEverywhere) {
  for (const Where where : {Where::kHeap, Where::kBuffer, Where::kElsewhere})
    for (const std::size_t bytes : kSizes) {
      const std::vector<std::byte> data = pattern(bytes);
      std::vector<std::byte> elsewhere(bytes);
      std::byte* const source = memory(job, where, elsewhere);
      std::memcpy(source, data.data(), bytes);
      std::memset(job.data<std::byte>(1, kThere), 0, bytes + 1);
      run_threads(1, [&] {
        job.to(1).put<1>(Thread{}, {job.data<std::byte>(0, kThere), source, bytes, Until::kLocal});
        job.quiet();
      });
      EXPECT_EQ(std::memcmp(job.data<std::byte>(1, kThere), data.data(), bytes), 0)
          << bytes << " bytes";
      EXPECT_EQ(*job.data<std::byte>(1, kThere + bytes), std::byte{0});
    }
}

TEST_P(Operations, GetBringsEveryByteToEverywhere) {
  for (const Where where : {Where::kHeap, Where::kBuffer, Where::kElsewhere})
    for (const std::size_t bytes : kSizes) {
      const std::vector<std::byte> data = pattern(bytes);
      std::memcpy(job.data<std::byte>(2, kThere), data.data(), bytes);
      std::vector<std::byte> elsewhere(bytes + 1);
      std::byte* const target = memory(job, where, elsewhere);
      std::memset(target, 0, bytes + 1);
      run_threads(1, [&] {
        job.to(2).get<1>(Thread{}, {target, job.data<std::byte>(0, kThere), bytes, Until::kLocal});
      });
      EXPECT_EQ(std::memcmp(target, data.data(), bytes), 0) << bytes << " bytes";
      EXPECT_EQ(target[bytes], std::byte{0});
    }
}

TEST_P(Operations, NbiIsCompleteAfterQuiet) {
  const std::vector<std::byte> data = pattern(4096);
  std::memcpy(job.data<std::byte>(0), data.data(), 4096);
  std::memcpy(job.data<std::byte>(2, kThere), data.data(), 4096);
  run_threads(1, [&] {
    job.to(1).put<1>(
        Thread{}, {job.data<std::byte>(0, kThere), job.data<std::byte>(0), 4096, Until::kPosted});
    job.to(2).get<1>(Thread{}, {job.data<std::byte>(0, 8192), job.data<std::byte>(0, kThere), 4096,
                                Until::kPosted});
    job.quiet();
  });
  EXPECT_EQ(std::memcmp(job.data<std::byte>(1, kThere), data.data(), 4096), 0);
  EXPECT_EQ(std::memcmp(job.data<std::byte>(0, 8192), data.data(), 4096), 0);
}

TEST_P(Operations, GroupsPostOnce) {
  const std::vector<std::byte> data = pattern(2000);
  std::memcpy(job.data<std::byte>(0), data.data(), 2000);
  run_threads(96, [&] {
    job.to(1).put<1>(Block{},
                     {job.data<std::byte>(0, kThere), job.data<std::byte>(0), 2000, Until::kLocal});
    if (exec::warp_id() == 1) {
      job.to(2).put<1>(
          Warp{}, {job.data<std::byte>(0, kThere), job.data<std::byte>(0), 2000, Until::kLocal});
    }
  });
  EXPECT_EQ(std::memcmp(job.data<std::byte>(1, kThere), data.data(), 2000), 0);
  EXPECT_EQ(std::memcmp(job.data<std::byte>(2, kThere), data.data(), 2000), 0);
  EXPECT_EQ(job.nic.counts(1).requests, 1u);
  EXPECT_EQ(job.nic.counts(2).requests, 1u);
}

struct Sixteen {
  std::uint64_t a, b;
};

TEST_P(Operations, ElementsOfEverySize) {
  run_threads(1, [&] {
    job.to(1).p(job.data<std::uint8_t>(0, 0), std::uint8_t{0x12});
    job.to(1).p(job.data<std::uint16_t>(0, 2), std::uint16_t{0x3456});
    job.to(1).p(job.data<float>(0, 4), 1.5f);
    job.to(1).p(job.data<double>(0, 8), 2.5);
    job.to(1).p(job.data<Sixteen>(0, 16), Sixteen{3, 4});
    job.quiet();
    EXPECT_EQ(job.to(1).g(job.data<std::uint8_t>(0, 0)), 0x12);
    EXPECT_EQ(job.to(1).g(job.data<std::uint16_t>(0, 2)), 0x3456);
    EXPECT_EQ(job.to(1).g(job.data<float>(0, 4)), 1.5f);
    EXPECT_EQ(job.to(1).g(job.data<double>(0, 8)), 2.5);
    const Sixteen both = job.to(1).g(job.data<Sixteen>(0, 16));
    EXPECT_TRUE(both.a == 3 && both.b == 4);
  });
  EXPECT_EQ(*job.data<double>(1, 8), 2.5);
}

TEST_P(Operations, StridedElements) {
  int source[20];
  std::iota(source, source + 20, 100);
  int back[20] = {};
  run_threads(32, [&] {
    iput(job.context(), Warp{}, job.data<int>(0), source, 3, 2, 10, 1);
    exec::sync_warp();
    if (exec::lane_id() == 0) job.quiet();
    exec::sync_warp();
    iget(job.context(), Warp{}, back, job.data<int>(0), 2, 3, 10, 1);
  });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(job.data<int>(1)[3 * i], 100 + 2 * i);
    EXPECT_EQ(back[2 * i], 100 + 2 * i);
  }
  EXPECT_EQ(job.data<int>(1)[1], 0);
  EXPECT_EQ(back[1], 0);
}

// The word at PE 1 after the atomic on `before`; the result is compared with it.
template <AmoOp kOp, class W>
W word_after(NicJob& job, W before, W operand, W compare = 0) {
  const Amo<kOp, W> atomic{job.data<W>(0), operand, compare};
  W* const word = job.data<W>(1);
  *word = before;
  run_threads(1, [&] {
    const W old = job.to(1).fetch_amo(atomic);
    EXPECT_EQ(old, before);
  });
  const W fetched = *word;
  if constexpr (kOp != AmoOp::kFetch && kOp != AmoOp::kCompareSwap) {
    *word = before;
    run_threads(1, [&] {
      job.to(1).amo(atomic);
      job.quiet();
    });
    EXPECT_EQ(*word, fetched);
  }
  return fetched;
}

template <class W>
void atomics(NicJob& job) {
  const W big = static_cast<W>(0x8123456789abcdefull), mask = static_cast<W>(0x0ff0f00f0ff0f00full);
  EXPECT_EQ(word_after<AmoOp::kAdd>(job, big, mask), static_cast<W>(big + mask));
  EXPECT_EQ(word_after<AmoOp::kAdd>(job, static_cast<W>(~W{0}), W{1}), W{0});
  EXPECT_EQ(word_after<AmoOp::kFetch>(job, big, mask), big);
  EXPECT_EQ(word_after<AmoOp::kXor>(job, big, mask), static_cast<W>(big ^ mask));
  EXPECT_EQ(word_after<AmoOp::kAnd>(job, big, mask), static_cast<W>(big & mask));
  EXPECT_EQ(word_after<AmoOp::kOr>(job, big, mask), static_cast<W>(big | mask));
  EXPECT_EQ(word_after<AmoOp::kSet>(job, big, mask), mask);
  EXPECT_EQ(word_after<AmoOp::kCompareSwap>(job, big, mask, big), mask);
  EXPECT_EQ(word_after<AmoOp::kCompareSwap>(job, big, mask, mask), big);
}

TEST_P(Operations, AtomicsOnFourBytes) { atomics<std::uint32_t>(job); }
TEST_P(Operations, AtomicsOnEightBytes) { atomics<std::uint64_t>(job); }

TEST_P(Operations, ResultsInHostOrder) {
  NicPlan little = plan();
  little.flags = 0;
  NicJob other(2, little);
  atomics<std::uint32_t>(other);
  atomics<std::uint64_t>(other);
}

TEST_P(Operations, PutSignalBringsDataAndSignal) {
  std::uint64_t sum = 5;
  for (const bool adds : {false, true})
    for (const Where where : {Where::kHeap, Where::kElsewhere})
      for (const std::size_t bytes :
           {std::size_t{0}, std::size_t{8}, std::size_t{28}, std::size_t{100}, std::size_t{3000}}) {
        const std::vector<std::byte> data = pattern(bytes);
        std::vector<std::byte> elsewhere(bytes + 1);
        std::byte* const source = memory(job, where, elsewhere);
        std::copy(data.begin(), data.end(), source);
        std::memset(job.data<std::byte>(1, kThere), 0, bytes);
        auto* const signal = job.data<std::uint64_t>(1, 128 * 1024);
        *signal = 5;
        sum = adds ? 5 + 37 : 37;
        const auto data_is_there = [&] {
          return std::equal(data.begin(), data.end(), job.data<std::byte>(1, kThere));
        };
        bool early = false;
        job.nic.watch([&] { early |= *signal == sum && !data_is_there(); });
        run_threads(1, [&] {
          job.to(1).put_signal<1>(Thread{},
                                  {job.data<std::byte>(0, kThere), source, bytes, Until::kLocal},
                                  SignalUpdate{job.data<std::uint64_t>(0, 128 * 1024), 37,
                                               adds ? SignalOp::kAdd : SignalOp::kSet});
          while (exec::ld<exec::Order::kAcquire>(signal) != sum) exec::pause();
          EXPECT_TRUE(data_is_there());
        });
        job.nic.watch({});
        EXPECT_FALSE(early) << "a signal came before its " << bytes << " bytes";
      }
}

// A plan whose writes have no order, where a signal can follow them, or not.
NicPlan unordered(NicPlan plan, bool swaps) {
  plan.flags |= abi::kNicUnorderedWrites | (swaps ? abi::kNicSwapsSignals : 0);
  plan.reorders = true;
  return plan;
}

TEST_P(Operations, PutSignalOnUnorderedWritesWaitsForItsData) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{100}}) {  // in the request, and not
    NicJob other(2, unordered(plan(), false));
    std::uint64_t completed = 0;
    run_threads(1, [&] {
      other.to(1).put_signal<1>(
          Thread{},
          {other.data<std::byte>(0, kThere), other.data<std::byte>(0), bytes, Until::kPosted},
          SignalUpdate{other.data<std::uint64_t>(0, 8), 1, SignalOp::kSet});
      completed = other.nic.queue(1).progress.done;
      other.quiet();
    });
    EXPECT_GE(completed, 1u) << bytes << " bytes";
    EXPECT_EQ(*other.data<std::uint64_t>(1, 8), 1u);
  }
}

// What a put_signal takes of the queue, all of it with one doorbell and nothing waited for.
std::uint64_t posted_by_put_signal(const NicPlan& plan, std::size_t bytes, SignalOp op) {
  NicJob job(2, plan);
  *job.data<std::uint64_t>(1, 8) = 5;
  const std::vector<std::byte> data = pattern(bytes);
  std::copy(data.begin(), data.end(), job.data<std::byte>(0, 4096));
  job.nic.hold();
  std::uint64_t posted = 0;
  run_threads(1, [&] {
    job.to(1).put_signal<1>(
        Thread{},
        {job.data<std::byte>(0, kThere), job.data<std::byte>(0, 4096), bytes, Until::kPosted},
        SignalUpdate{job.data<std::uint64_t>(0, 8), 37, op});
    posted = job.nic.rung(1);
    job.nic.go_on();
    job.quiet();
  });
  EXPECT_EQ(*job.data<std::uint64_t>(1, 8), op == SignalOp::kAdd ? 42u : 37u);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), job.data<std::byte>(1, kThere)));
  EXPECT_EQ(job.nic.counts(1).requests, bytes == 0 ? 1u : 2u);
  return posted;
}

TEST_P(Operations, AnAtomicSignalIsPostedWithItsUnorderedData) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{28}, std::size_t{100}}) {
    EXPECT_EQ(posted_by_put_signal(unordered(plan(), true), bytes, SignalOp::kSet), 3u);
    EXPECT_EQ(posted_by_put_signal(unordered(plan(), true), bytes, SignalOp::kAdd), 2u);
    EXPECT_EQ(posted_by_put_signal(unordered(plan(), false), bytes, SignalOp::kAdd), 2u);
    EXPECT_EQ(posted_by_put_signal(plan(), bytes, SignalOp::kSet), 2u);
  }
}

TEST_P(Operations, ASignalWithoutDataIsOneRequestOfOneBlock) {
  for (const SignalOp op : {SignalOp::kSet, SignalOp::kAdd})
    EXPECT_EQ(posted_by_put_signal(unordered(plan(), true), 0, op), 1u);
}

// Of two barriers: the first one's must be there before the second one's.
TEST_P(Operations, AnAnnouncementWaitsForTheOneBeforeWhereWritesHaveNoOrder) {
  for (const bool swaps : {false, true}) {
    NicJob other(2, unordered(plan(), swaps));
    std::uint64_t completed = 0;
    run_threads(1, [&] {
      for (std::uint64_t epoch = 1; epoch <= 2; ++epoch)
        other.to(1).announce({other.data<std::uint64_t>(0, 8), epoch});
      completed = other.nic.queue(1).progress.done;
      other.quiet();
    });
    EXPECT_GE(completed, 1u);
    EXPECT_EQ(*other.data<std::uint64_t>(1, 8), 2u);
  }
}

TEST_P(Operations, FenceWaitsWhereWritesArriveInAnyOrder) {
  NicJob other(2, unordered(plan(), true));
  std::uint64_t completed = 0;
  run_threads(1, [&] {
    other.to(1).p(other.data<int>(0), 1);
    other.fence();
    completed = other.nic.queue(1).progress.done;
    other.quiet();
  });
  EXPECT_EQ(completed, 1u);
}

// Data under the relaxed key may pass other data, but never a signal.
TEST_P(Operations, FenceWaitsWhereDataMayArriveOutOfOrder) {
  for (const bool is_ordered : {true, false}) {
    NicPlan changed = plan();
    if (!is_ordered) changed.flags |= abi::kNicUnorderedData;
    NicJob other(2, changed);
    std::uint64_t completed = 0;
    run_threads(1, [&] {
      other.to(1).put<1>(Thread{}, {other.data<std::byte>(0, kThere), other.data<std::byte>(0), 100,
                                    Until::kPosted});
      other.fence();
      completed = other.nic.queue(1).progress.done;
      other.quiet();
    });
    EXPECT_EQ(completed, is_ordered ? 0u : 1u);
  }
}

// A PE's atomics may go by the NIC while its memory is mapped: a store behind the fence would
// overtake them.
TEST_P(Operations, FenceWaitsForAPeerThatStoresReachToo) {
  for (const bool is_mapped : {false, true}) {
    NicJob other(2, plan());
    if (is_mapped) other.job.map(1);
    std::uint64_t completed = 0;
    run_threads(1, [&] {
      other.to(1).amo(Amo<AmoOp::kAdd, std::uint64_t>{other.data<std::uint64_t>(), 1});
      other.fence();
      completed = other.nic.queue(1).progress.done;
      other.quiet();
    });
    EXPECT_EQ(completed, is_mapped ? 1u : 0u);
  }
}

TEST_P(Operations, ASignalIsPostedWithUnorderedData) {
  NicPlan unordered = plan();
  unordered.flags |= abi::kNicUnorderedData;
  NicJob other(2, unordered);
  other.nic.hold();
  std::uint64_t posted = 0;
  run_threads(1, [&] {
    other.to(1).put_signal<1>(
        Thread{}, {other.data<std::byte>(0, kThere), other.data<std::byte>(0), 100, Until::kPosted},
        SignalUpdate{other.data<std::uint64_t>(0, 8), 1, SignalOp::kSet});
    posted = other.nic.rung(1);
    other.nic.go_on();
    other.quiet();
  });
  EXPECT_EQ(posted, 2u);
  EXPECT_EQ(*other.data<std::uint64_t>(1, 8), 1u);
}

TEST_P(Operations, ReadsAreFlushedWhereCompletionsMayOvertakeThem) {
  NicPlan flushing = plan();
  flushing.flags |= abi::kNicFlushReads;
  NicJob other(2, flushing);
  run_threads(1, [&] {
    other.to(1).get<1>(
        Thread{}, {other.data<std::byte>(0), other.data<std::byte>(0, kThere), 64, Until::kLocal});
  });
  EXPECT_EQ(other.nic.counts(1).dumps, 1u);
  EXPECT_EQ(other.nic.counts(1).requests, 2u);
}

// A staging slot lies where the CQEs do.
TEST_P(Operations, StagedReadsNeedNoFlush) {
  NicPlan flushing = plan();
  flushing.flags |= abi::kNicFlushReads;
  NicJob other(2, flushing);
  const std::vector<std::byte> data = pattern(3000);
  std::memcpy(other.data<std::byte>(1, kThere), data.data(), data.size());
  std::vector<std::byte> elsewhere(data.size());
  run_threads(1, [&] {
    other.to(1).get<1>(
        Thread{}, {elsewhere.data(), other.data<std::byte>(0, kThere), data.size(), Until::kLocal});
  });
  EXPECT_EQ(elsewhere, data);
  EXPECT_EQ(other.nic.counts(1).dumps, 0u);
}

TEST_P(Operations, TheHostOperatesToo) {
#ifdef CHIME_TSAN
  GTEST_SKIP() << "TSan does not see what fences of a host thread order";
#endif
  job.to(1).p(job.data<int>(0), 17);
  job.quiet();
  EXPECT_EQ(*job.data<int>(1), 17);
  EXPECT_EQ(job.to(1).g(job.data<int>(0)), 17);
  EXPECT_EQ(job.to(1).fetch_amo(Amo<AmoOp::kAdd, std::uint32_t>{job.data<std::uint32_t>(0), 5}),
            17u);
  EXPECT_EQ(job.to(1).g(job.data<int>(0)), 22);
}

IN_EACH_MODE(Operations);

}  // namespace
}  // namespace chime::tests
