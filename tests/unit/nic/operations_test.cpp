// The effects of a NIC's order, atomics and doorbells on operations, with both forms of completion
// queue. tests/unit/channels tests the promises of every kind of channel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "nic_job.hpp"

namespace chime::tests {
namespace {

class Operations : public EachMode {};

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = std::byte(i * 7 + 1);
  return data;
}

constexpr std::size_t kThere = 64 * 1024;  // offset at the peer

// A plan whose writes are unordered, with or without swaps for signals.
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

// The blocks of a put_signal in the queue, all with one doorbell and without a wait.
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

// Two barriers: the first one's announcement must arrive before the second one's.
TEST_P(Operations, AnAnnouncementWaitsForTheOneBeforeWhereWritesHaveNoOrder) {
  for (const bool swaps : {false, true}) {
    NicJob other(2, unordered(plan(), swaps));
    std::uint64_t completed = 0;
    run_threads(1, [&] {
      for (std::uint64_t epoch = 1; epoch <= 2; ++epoch)
        other.to(1).announce({other.data<std::uint64_t>(0, 8), epoch});
      completed = other.nic.queue(1).progress.done;
      channel::settle(other.context());
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

// A PE's atomics may go by the NIC while its memory is mapped: a store after the fence would
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

// A staging slot lies in the same memory as the CQEs.
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

IN_EACH_MODE(Operations);

}  // namespace
}  // namespace chime::tests
