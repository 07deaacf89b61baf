// quiet by a group: its members divide the channels among them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "chime/device/coll/barrier.cuh"
#include "nic_job.hpp"

namespace chime::tests {
namespace {

class QuietTogether : public EachMode {};

TEST(Shares, EachChannelFallsToOneMember) {
  for (const unsigned size : {1u, 2u, 7u, 31u, 32u, 63u, 64u, 65u, 96u, 512u, 1000u, 1024u})
    for (std::uint32_t word = 0; word < 40; ++word)
      for (unsigned rank = 0; rank < size; ++rank) {
        const std::uint64_t mine = channel::detail::share_of(word, rank, size);
        for (unsigned bit = 0; bit < 64; ++bit)
          ASSERT_EQ(mine >> bit & 1, (word * 64 + bit) % size == rank)
              << "word " << word << ", bit " << bit << ", rank " << rank << " of " << size;
      }
}

// 100 channels, of which each thread has used some. Only a thread that waits for a channel polls
// it: so `done` shows for each that a member did.
template <class Group>
void expect_all_complete(NicPlan plan, unsigned threads) {
  constexpr int kPes = 25;
  plan.slots = 4;
  NicJob job(kPes, plan);
  run_grid(4, threads, [&] {
    const unsigned i = exec::thread_rank();
    for (int pe = static_cast<int>(i); pe < kPes; pe += static_cast<int>(threads))
      job.to(pe).p(job.data<unsigned>(0) + exec::block_rank(), 7 + exec::block_rank());
  });
  run_threads(threads, [&] {
    channel::quiet(job.context(), Group{});
    for (int pe = 0; pe < kPes; ++pe)
      for (unsigned slot = 0; slot < 4; ++slot)
        EXPECT_EQ(__atomic_load_n(job.data<unsigned>(pe) + slot, __ATOMIC_ACQUIRE), 7 + slot);
  });
  for (int pe = 0; pe < kPes; ++pe)
    for (unsigned slot = 0; slot < 4; ++slot)
      EXPECT_EQ(job.nic.queue(pe, slot).progress.done, 1u) << "PE " << pe << ", slot " << slot;
}

TEST_P(QuietTogether, CompletesWhatAnyThreadHasSent) {
  expect_all_complete<Warp>(plan(), 32);
  expect_all_complete<Warp>(plan(), 7);
  expect_all_complete<Block>(plan(), 96);
  expect_all_complete<Block>(plan(), 160);
}

// Queue 1 has a request that never completes: one member waits for it, the others do not.
TEST_P(QuietTogether, AChannelThatLastsHoldsUpNoOther) {
  NicJob job(3, plan());
  abi::Channel& lasting = job.nic.queue(1);
  std::thread members([&] {
    run_threads(32, [&] {
      if (exec::lane_id() == 0) {
        for (const int pe : {1, 2}) job.to(pe).p(job.data<int>(0), 17);
        lasting.producer.resv += 1;
        lasting.producer.ready += 1;
      }
      exec::sync_warp();
      channel::quiet(job.context(), Warp{});
    });
  });
  const auto is_over = [&] {
    return __atomic_load_n(&job.nic.queue(2).progress.done, __ATOMIC_ACQUIRE) == 1 ||
           __atomic_load_n(&lasting.progress.status, __ATOMIC_ACQUIRE) != 0;
  };
  while (!is_over()) std::this_thread::yield();
  EXPECT_EQ(__atomic_load_n(&lasting.progress.status, __ATOMIC_ACQUIRE), 0u)
      << "it was given up before the other was looked at";
  channel::advance_to(lasting, 2);
  members.join();
  EXPECT_EQ(*job.data<int>(2), 17);
}

// As an announcement that is in flight: the quiets of other lanes go on meanwhile.
TEST_P(QuietTogether, AnAnnouncementThatLastsHoldsUpNone) {
  NicJob job(3, plan());
  abi::Channel& lasting = job.nic.queue(1);
  run_threads(32, [&] {
    if (exec::lane_id() == 0) {
      for (const int pe : {1, 2}) job.to(pe).p(job.data<int>(0), 17);
      lasting.producer.resv += 1;
      lasting.producer.ready += 1;
      channel::note_announcement(lasting, 2);
    }
    exec::sync_warp();
    channel::quiet(job.context(), Warp{});
    channel::quiet(job.context());
    channel::fence(job.context());
  });
  EXPECT_EQ(lasting.progress.done, 1u);
  EXPECT_EQ(job.job.error().claimed, 0u);
  for (const int pe : {1, 2}) EXPECT_EQ(*job.data<int>(pe), 17);
  channel::advance_to(lasting, 2);
}

// The member that finds it reports it, the other peers have their data, and all members return.
TEST_P(QuietTogether, AFailureIsReportedAndAllComeBack) {
  NicJob job(8, plan());
  job.nic.fail_at(5, 0, 0x13);
  std::atomic<unsigned> came_back{0};
  run_threads(32, [&] {
    if (exec::lane_id() < 8) job.to(static_cast<int>(exec::lane_id())).p(job.data<int>(0), 3);
    exec::sync_warp();
    channel::quiet(job.context(), Warp{});
    EXPECT_EQ(job.job.error().claimed, 2u) << "reported before any goes on";
    ++came_back;
  });
  EXPECT_EQ(came_back, 32u);
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.job.error().pe, 5);
  EXPECT_EQ(job.nic.fault(5).published, abi::kFaultReported);
  for (int pe = 0; pe < 8; ++pe)
    EXPECT_EQ(job.nic.queue(pe).progress.done, pe == 5 ? abi::kStopped : 1u);
}

TEST_P(QuietTogether, AFailureEndsAllWhereErrorsEndKernels) {
  NicJob job(8, plan());
  job.context().pe.on_error = OnError::kExit;
  job.nic.fail_at(5, 0, 0x13);
  std::atomic<unsigned> went_on{0};
  run_threads(96, [&] {
    if (exec::thread_rank() < 8) {
      job.to(static_cast<int>(exec::thread_rank())).p(job.data<int>(0), 3);
    }
    exec::sync_block();
    channel::quiet(job.context(), Block{});
    ++went_on;
  });
  EXPECT_EQ(went_on, 0u);
  EXPECT_EQ(job.job.error().claimed, 2u);
  EXPECT_EQ(job.job.error().pe, 5);
}

IN_EACH_MODE(QuietTogether);

}  // namespace
}  // namespace chime::tests
