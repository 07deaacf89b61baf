#include "chime/device/coll/barrier.cuh"

#include <gtest/gtest.h>

#include "chime/device/rma.cuh"
#include "fake_job.hpp"

namespace chime::tests {
namespace {

constexpr int kTurns = 40;

// In every turn each PE puts the turn to all others, then all meet; no PE may see an old turn.
// `bad` counts those that do.
template <class Group>
CHIME_KERNEL void meet_often(Context ctx, int* board, int* bad) {
  Group g;
  for (int turn = 1; turn <= kTurns; ++turn) {
    if (g.is_leader()) {
      for (int pe = 0; pe < ctx.pe.n_pes; ++pe) p(ctx, board + ctx.pe.my_pe, turn, pe);
    }
    barrier_all(ctx, g);
    for (int pe = static_cast<int>(g.rank()); pe < ctx.pe.n_pes; pe += static_cast<int>(g.size())) {
      if (exec::ld(board + pe) < turn) exec::atomic_add(bad, 1);
    }
    sync_all(ctx, g);
  }
}

template <class Group>
void expect_meeting(int n_pes, unsigned threads) {
  FakeJob job(n_pes);
  int bad = 0;
  job.run([&](int pe) {
    run_block(threads, meet_often<Group>, job.context(pe), job.data<int>(pe), &bad);
  });
  EXPECT_EQ(bad, 0) << n_pes << " PEs";
  for (int pe = 0; pe < n_pes; ++pe) {
    EXPECT_EQ(job.team(pe, 0).areas->epoch, 2u * kTurns);
    EXPECT_EQ(job.error(pe).claimed, 0u);
  }
}

TEST(Barrier, OfThreads) {
  for (const int n_pes : {1, 2, 3, 5, 8}) expect_meeting<Thread>(n_pes, 1);
}
TEST(Barrier, OfWarps) {
  for (const int n_pes : {1, 2, 3}) expect_meeting<Warp>(n_pes, 32);
}
TEST(Barrier, OfBlocks) {
  for (const int n_pes : {1, 2, 3, 4}) expect_meeting<Block>(n_pes, 48);
}
TEST(Barrier, InWeakMemory) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    WeakMemory weak(seed);
    expect_meeting<Block>(3, 16);
  }
}

TEST(Barrier, OfHostThreads) {
  FakeJob job(4);
  job.run([&](int pe) {
    for (int turn = 0; turn < 100; ++turn) barrier_all(job.context(pe), Thread{});
  });
  EXPECT_EQ(job.team(3, 0).areas->epoch, 100u);
}

CHIME_KERNEL void meet_once(Context ctx, int* went_on) {
  sync_all(ctx, Block{});
  exec::atomic_add(went_on, 1);
}

TEST(Barrier, WithoutAPeIsAnErrorThatNamesIt) {
  FakeJob job(3);
  int went_on = 0;
  job.run([&](int pe) {
    if (pe == 1) return;  // never arrives
    job.context(pe).pe.wait_timeout_ns = 50'000'000;
    run_block(32, meet_once, job.context(pe), &went_on);
  });
  EXPECT_EQ(went_on, 0);
  const abi::ErrorRecord& record = job.error(2);
  EXPECT_EQ(record.status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(record.pe, 1);
  EXPECT_EQ(record.operation, static_cast<unsigned>(Operation::kSyncAll));
  EXPECT_GE(record.waited_ns, 50'000'000u);
}

TEST(Barrier, EndsWithTheJob) {
  FakeJob job(2);
  int went_on = 0;
  job.run([&](int pe) {
    if (pe == 1) return job.raise_abort(0, CHIMEX_ERR_PEER_DEAD, 1);
    run_block(32, meet_once, job.context(pe), &went_on);
  });
  EXPECT_EQ(went_on, 0);
  EXPECT_EQ(job.error(0).status, CHIMEX_ERR_PEER_DEAD);
}

}  // namespace
}  // namespace chime::tests
