// The FIFO itself: full, lap after lap, with lanes that meet and blocks that share it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "proxy_job.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;

class Fifo : public EachPace {};

TEST_P(Fifo, HoldsManyLapsOfManyPosters) {
  ProxyPlan two = plan();
  two.fifos = 2;
  ProxyJob job(3, two);
  constexpr Word kTimes = 20;
  run_grid(4, 64, [&] {
    const Context& ctx = job.context();
    for (Word i = 1; i <= kTimes; ++i) {
      p(ctx, job.data<Word>() + exec::grid_rank(), i * exec::grid_rank(), 1);
      atomic_add(ctx, job.data<Word>(0, 16384), i, 2);
    }
    quiet(ctx);
  });
  EXPECT_EQ(job.error().claimed, 0u);
  for (Word rank = 0; rank < 256; ++rank) {
    if (GetParam() == Pace::kAny) continue;  // the last put is not the last to arrive
    EXPECT_EQ(job.data<Word>(1)[rank], kTimes * rank);
  }
  EXPECT_EQ(*job.data<Word>(2, 16384), 256 * kTimes * (kTimes + 1) / 2);
  for (unsigned number : {0u, 1u}) {
    const abi::Channel& fifo = job.proxy.fifo(number);
    EXPECT_EQ(fifo.producer.ready, 128u * kTimes * 2) << "blocks share them out";
    EXPECT_EQ(fifo.progress.done, fifo.producer.ready);
    EXPECT_EQ(job.proxy.slots_taken(number), fifo.producer.ready);
  }
}

// A request of two slots may begin in the last one.
TEST_P(Fifo, WideRequestsGoAroundTheEnd) {
  ProxyJob job(2, plan());
  constexpr Word kTimes = 200;
  run_threads(1, [&] {
    const Context& ctx = job.context();
    p(ctx, job.data<Word>(0, 8), Word{7}, 1);
    for (Word i = 1; i <= kTimes; ++i) {
      put_signal(ctx, Thread{}, job.data<Word>(0, 64), &i, 1, {job.data<Word>(), 1, SignalOp::kAdd},
                 1);
      if (i % 5 != 0) continue;
      quiet(ctx);
      EXPECT_EQ(atomic_fetch(ctx, job.data<Word>(0, 8), 1), 7u);
    }
    quiet(ctx);
  });
  EXPECT_EQ(*job.data<Word>(1), kTimes);
  EXPECT_EQ(job.error().claimed, 0u);
}

// For every size, and alike for a put and a get.
TEST_P(Fifo, AnElementIsOneSlot) {
  struct Sixteen {
    Word words[2];
  };
  ProxyJob job(2, plan());
  run_threads(1, [&] {
    const auto there_and_back = [&](auto element) {
      p(job.context(), job.data<decltype(element)>(), element, 1);
      quiet(job.context());
      g(job.context(), job.data<decltype(element)>(), 1);
    };
    there_and_back(std::uint8_t{1});
    there_and_back(std::uint16_t{1});
    there_and_back(1.0f);
    there_and_back(1.0);
    there_and_back(Sixteen{{1, 1}});
  });
  EXPECT_EQ(job.proxy.taken().size(), 10u);
  EXPECT_EQ(job.proxy.slots_taken(), 10u);
}

// Registered memory needs no slots, and put_signal no second request.
TEST_P(Fifo, PutSignalIsOneRequest) {
  ProxyJob job(2, plan());
  run_threads(1, [&] {
    put_signal(job.context(), Thread{}, job.data<std::byte>(0, 64 * 1024), job.data<std::byte>(),
               3000, {job.data<std::uint64_t>(0, 0), 1}, 1);
    put_signal(job.context(), Thread{}, job.data<std::byte>(0, 64 * 1024), job.data<std::byte>(),
               16, {job.data<std::uint64_t>(0, 0), 1}, 1);
    job.quiet();
  });
  const std::vector<abi::ProxyRequest> taken = job.proxy.taken();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].kind, abi::ProxyKind::kPut);
  EXPECT_EQ(taken[1].kind, abi::ProxyKind::kPutValue);
  for (const abi::ProxyRequest& request : taken) EXPECT_TRUE(request.has_signal);
  EXPECT_EQ(job.proxy.slots_taken(), 4u);
}

// All requests of a warp are one reservation, whichever PEs they go to.
TEST_P(Fifo, LanesThatMeetReserveOnce) {
  ProxyJob job(3, plan());
  run_threads(1, [&] {
    p(job.context(), job.data<Word>(), Word{0}, 1);
    quiet(job.context());  // it may arrive last
  });
  std::vector<Word> seen(32);
  run_threads(32, [&] {
    const Word lane = exec::lane_id();
    p(job.context(), job.data<Word>() + lane, lane + 1, 1 + static_cast<int>(lane % 2));
    seen[lane] = atomic_fetch_add(job.context(), job.data<Word>(0, 4096), Word{1},
                                  1 + static_cast<int>(lane % 2));
    quiet(job.context());
  });
  for (Word lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(job.data<Word>(1 + static_cast<int>(lane % 2))[lane], lane + 1);
  }
  std::sort(seen.begin(), seen.end());
  for (Word i = 0; i < 32; ++i) EXPECT_EQ(seen[i], i / 2) << "each fetched a value of its own";
  EXPECT_EQ(job.proxy.slots_taken(), 65u);
}

// A place is not taken again before its reader has the value, and a full FIFO does not delay a
// reader.
TEST_P(Fifo, ResultsAreTakenBeforeTheirPlaces) {
  ProxyJob job(2, plan());
  std::vector<Word> seen;
  seen.resize(128 * 20);
  run_grid(2, 64, [&] {
    for (Word i = 0; i < 20; ++i) {
      seen[exec::grid_rank() * 20 + i] =
          atomic_fetch_add(job.context(), job.data<Word>(), Word{1}, 1);
    }
  });
  std::sort(seen.begin(), seen.end());
  for (Word i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i);
  for (unsigned slot = 0; slot < 64; ++slot) EXPECT_EQ(job.proxy.fifo().fifo.busy[slot], 0u);
}

// A thread that met the posters finds their puts complete after its quiet; they need none.
TEST_P(Fifo, AQuietOfOneCompletesWhatOthersSent) {
  ProxyJob job(2, plan());
  for (Word round = 1; round <= 20; ++round) {
    run_threads(64, [&] {
      p(job.context(), job.data<Word>() + exec::grid_rank(), round, 1);
      exec::sync_block();
      if (exec::grid_rank() != 5) return;
      quiet(job.context());
      for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(exec::ld(job.data<Word>(1) + i), round);
    });
  }
}

TEST_P(Fifo, StagedTransfersOfManyThreadsShareTheSlots) {
  ProxyPlan few = plan();
  few.staging_slots = 4;  // two for a peer
  few.staging_slot_bytes = 256;
  ProxyJob job(2, few);
  run_threads(16, [&] {
    std::byte mine[600];
    const Word rank = exec::grid_rank();
    std::fill(std::begin(mine), std::end(mine), std::byte(rank + 1));
    putmem(job.context(), Thread{}, job.data<std::byte>(0, rank * 1024), mine, sizeof mine, 1);
    std::fill(std::begin(mine), std::end(mine), std::byte{0});
    quiet(job.context());
    getmem(job.context(), Thread{}, mine, job.data<std::byte>(0, rank * 1024), sizeof mine, 1);
    for (const std::byte b : mine) EXPECT_EQ(b, std::byte(rank + 1));
  });
  EXPECT_EQ(job.error().claimed, 0u);
}

AT_EACH_PACE(Fifo);

// ---- Fence --------------------------------------------------------------------------------------

ProxyPlan late(std::uint32_t flags = 0, unsigned fifos = 1) {
  ProxyPlan plan;
  plan.pace = Pace::kLate;
  plan.flags = flags;
  plan.fifos = fifos;
  return plan;
}

// How far the FIFO was complete when a fence returned; the proxy holds the puts.
bool fence_returns_while_held(ProxyJob& job, const std::function<void()>& send) {
  job.context().pe.wait_timeout_ns = 300'000'000;
  job.proxy.hold();
  run_threads(1, [&] {
    send();
    job.fence();
  });
  job.proxy.go_on();
  return job.error().claimed == 0;
}

TEST(Fence, IsFreeWhereOneFifoKeepsOrder) {
  ProxyJob job(3, late());
  EXPECT_TRUE(fence_returns_while_held(job, [&] {
    p(job.context(), job.data<Word>(), Word{1}, 1);
    atomic_add(job.context(), job.data<Word>(), Word{1}, 2);
  }));
}

TEST(Fence, DrainsWhatKeepsNoOrder) {
  ProxyJob job(3, late(abi::kProxyUnordered));
  EXPECT_FALSE(
      fence_returns_while_held(job, [&] { p(job.context(), job.data<Word>(), Word{1}, 1); }));
}

TEST(Fence, DrainsSeveralFifos) {
  ProxyJob job(3, late(0, 2));
  run_grid(2, 1, [&] { p(job.context(), job.data<Word>() + exec::grid_rank(), Word{1}, 1); });
  EXPECT_FALSE(
      fence_returns_while_held(job, [&] { p(job.context(), job.data<Word>(), Word{1}, 1); }));
}

// An atomic goes through its owner's proxy, and stores to the same peer would overtake it.
TEST(Fence, DrainsAnAtomicToAPeerThatIsMapped) {
  const auto send_to_mapped = [](auto send) {
    ProxyJob job(3, late());
    job.job.map(1);
    return fence_returns_while_held(job, [&] { send(job); });
  };
  EXPECT_FALSE(send_to_mapped(
      [](ProxyJob& job) { atomic_add(job.context(), job.data<Word>(), Word{1}, 1); }));
  EXPECT_FALSE(send_to_mapped([](ProxyJob& job) {
    signal_op(job.context(), {job.data<Word>(), 1, SignalOp::kAdd}, 1);
  }));
  EXPECT_FALSE(send_to_mapped([](ProxyJob& job) {
    put_signal_nbi(job.context(), Thread{}, job.data<Word>(0, 64), job.data<Word>(), 4,
                   {job.data<Word>(), 1, SignalOp::kAdd}, 1);
  }));
  EXPECT_TRUE(send_to_mapped(
      [](ProxyJob& job) { atomic_add(job.context(), job.data<Word>(), Word{1}, 2); }));
}

}  // namespace
}  // namespace chime::tests
