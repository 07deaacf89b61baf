// The effects of a lost peer or a wait that is given up: callers that asked for that peer get the
// error, others go on; no thread waits for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "proxy_job.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;

// As the host does after the report.
void free_record(ProxyJob& job) { const_cast<abi::ErrorRecord&>(job.error()).claimed = 0; }

void stop_waiting_soon(ProxyJob& job) { job.context().pe.wait_timeout_ns = 50'000'000; }

class Loss : public EachPace {};

TEST_P(Loss, IsReportedInFullByTheCallForThePeer) {
  ProxyJob job(3, plan());
  job.proxy.lose(2);
  run_threads(1, [&] {
    p(job.context(), job.data<int>(), 1, 1);
    put(job.context(), Thread{}, job.data<std::byte>(0, 4096), job.data<std::byte>(), 640, 2);
  });
  const abi::ChannelFault& fault = job.proxy.fault();
  EXPECT_EQ(fault.published, abi::kFaultReported);
  EXPECT_EQ(abi::stop_of(fault.status), abi::Stop::kError);
  EXPECT_EQ(fault.pe, 2);
  EXPECT_EQ(fault.path, static_cast<std::uint32_t>(Path::kProxy));
  EXPECT_EQ(fault.opcode, static_cast<std::uint8_t>(abi::ProxyKind::kPut));
  EXPECT_EQ(fault.error, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(fault.bytes, 640u);
  EXPECT_EQ(fault.address, reinterpret_cast<Word>(job.data<std::byte>(0, 4096)));
  EXPECT_EQ(job.error().claimed, 2u);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(job.error().pe, 2);
  EXPECT_EQ(job.error().address, reinterpret_cast<Word>(job.data<std::byte>(0, 4096)));
  EXPECT_EQ(job.error().expected, 640u);
  EXPECT_EQ(job.proxy.channels().pool.watch->lost, 1u);
  run_threads(1, [&] { quiet(job.context()); });  // no thread has waited for the value
  EXPECT_EQ(*job.data<int>(1), 1);
}

// A slot is given back with its request, which is still in flight, so it is free a little later.
bool takes_a_slot_in_time(const Context& ctx, int pe, std::uint32_t pair) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (staging::try_take_slot(ctx, pe, pair) == staging::kNoSlot) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Each operation that waits, and its result.
TEST_P(Loss, EndsEveryOperationThatWaits) {
  for (int which = 0; which < 6; ++which) {
    ProxyJob job(3, plan());
    job.proxy.lose(1, CHIMEX_ERR_NETWORK);
    *job.data<Word>(1) = 77;
    Word word = 5;
    std::byte mine[3000] = {};
    run_threads(1, [&] {
      const Context& ctx = job.context();
      if (which == 0) word = g(ctx, job.data<Word>(), 1);
      if (which == 1) word = atomic_fetch_add(ctx, job.data<Word>(), Word{1}, 1);
      if (which == 2) get(ctx, Thread{}, job.data<std::byte>(0, 64), job.data<std::byte>(), 64, 1);
      if (which == 3) put(ctx, Thread{}, job.data<std::byte>(), job.data<std::byte>(0, 64), 64, 1);
      if (which == 4) putmem(ctx, Thread{}, job.data<std::byte>(), mine, sizeof mine, 1);
      if (which == 5) getmem(ctx, Thread{}, mine, job.data<std::byte>(), sizeof mine, 1);
    });
    EXPECT_EQ(job.error().status, CHIMEX_ERR_NETWORK) << "operation " << which;
    EXPECT_EQ(job.error().pe, 1);
    EXPECT_EQ(word, which < 2 ? 0u : 5u) << "zero is given back";
    EXPECT_EQ(*job.data<Word>(1), 77u) << "nothing was changed";
    for (const std::uint32_t pair : {0, 1})
      EXPECT_TRUE(takes_a_slot_in_time(job.context(), 1, pair)) << "all may be used again";
    EXPECT_EQ(job.proxy.fifo().progress.status, 0u) << "the FIFO is in use";
  }
}

// For an operation that only posts, quiet returns the error.
TEST_P(Loss, OfWhatWasPostedIsReportedByQuiet) {
  ProxyJob job(3, plan());
  job.proxy.lose(1);
  run_threads(1, [&] {
    p(job.context(), job.data<Word>(0, 8), Word{1}, 1);
    p(job.context(), job.data<Word>(0, 8), Word{2}, 2);
    quiet(job.context());
  });
  EXPECT_EQ(job.error().status, CHIMEX_ERR_PEER_DEAD);
  EXPECT_EQ(job.error().pe, 1);
  EXPECT_EQ(job.error().address, reinterpret_cast<Word>(job.data<Word>(0, 8)));
  EXPECT_EQ(*job.data<Word>(2, 8), 2u) << "the others have their data";
}

// The next quiet reports it again, as for a queue pair, and so does a call for that peer.
TEST_P(Loss, IsReportedAgainByTheNext) {
  ProxyJob job(4, plan());
  job.proxy.lose(1);
  const auto told_by = [&](auto operation) {
    free_record(job);
    run_threads(1, [&] { operation(job.context()); });
    return job.error().claimed == 0 ? -1 : job.error().pe;
  };
  EXPECT_EQ(told_by([&](const Context& ctx) { g(ctx, job.data<Word>(), 1); }), 1);
  EXPECT_EQ(told_by([&](const Context& ctx) { quiet(ctx); }), 1);
  EXPECT_EQ(told_by([&](const Context& ctx) { g(ctx, job.data<Word>(), 2); }), -1);
  EXPECT_EQ(told_by([&](const Context& ctx) { p(ctx, job.data<Word>(), Word{1}, 1); }), 1);
  job.proxy.lose(3);
  EXPECT_EQ(told_by([&](const Context& ctx) { g(ctx, job.data<Word>(), 3); }), 3);
  EXPECT_EQ(told_by([&](const Context& ctx) { g(ctx, job.data<Word>(), 2); }), -1);
}

TEST_P(Loss, LeavesThePathToOthersAlone) {
  ProxyPlan two = plan();
  two.fifos = 2;
  ProxyJob job(3, two);
  job.proxy.lose(1);
  constexpr Word kTimes = 100;
  std::atomic<unsigned> wrong{0};
  run_grid(4, 64, [&] {
    const Context& ctx = job.context();
    Word* const mine = job.data<Word>() + exec::grid_rank();
    for (Word i = 1; i <= kTimes; ++i) {
      if (exec::grid_rank() % 2 == 0) {
        if (i % 3 == 0) g(ctx, mine, 1);
        if (i % 3 == 1) p(ctx, mine, i, 1);
        if (i % 3 == 2) atomic_fetch_add(ctx, mine, Word{1}, 1);
      } else if (atomic_fetch_add(ctx, mine, Word{1}, 2) != i - 1) {
        ++wrong;
      }
    }
    quiet(ctx);
  });
  EXPECT_EQ(wrong, 0u);
  for (Word rank = 0; rank < 256; ++rank) {
    EXPECT_EQ(job.data<Word>(2)[rank], rank % 2 == 0 ? 0 : kTimes);
    EXPECT_EQ(job.data<Word>(1)[rank], 0u);
  }
  for (unsigned number : {0u, 1u}) {
    const abi::Channel& fifo = job.proxy.fifo(number);
    EXPECT_EQ(fifo.progress.status, 0u);
    EXPECT_EQ(fifo.progress.done, fifo.producer.ready | abi::kSomeLost);
    for (unsigned slot = 0; slot < 64; ++slot) EXPECT_EQ(fifo.fifo.busy[slot], 0u);
  }
  EXPECT_EQ(job.error().pe, 1);
}

// Nothing is sent to a peer that is known to be lost.
TEST_P(Loss, PostsNothingMore) {
  ProxyJob job(2, plan());
  job.proxy.lose(1);
  run_threads(1, [&] { g(job.context(), job.data<Word>(), 1); });
  const Word before = job.proxy.fifo().producer.ready;
  run_threads(1, [&] {
    p(job.context(), job.data<Word>(), Word{1}, 1);
    atomic_add(job.context(), job.data<Word>(), Word{1}, 1);
  });
  EXPECT_EQ(job.proxy.fifo().producer.ready, before);
}

// The loss ends another wait: only a thread that waits for an answer polls sent requests.
TEST_P(Loss, IsFoundByAWaitForAnAnswer) {
  ProxyJob job(2, plan());
  job.proxy.lose(1);
  job.context().pe.wait_timeout_ns = 100'000'000;
  run_threads(1, [&] {
    p(job.context(), job.data<Word>(0, 8), Word{1}, 1);
    wait_until(job.context(), job.data<Word>(), Cmp::kEq, Word{1});
  });
  EXPECT_EQ(job.error().pe, 1);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_PEER_DEAD);
}

TEST_P(Loss, EndsAKernelThatIsToEnd) {
  ProxyJob job(3, plan());
  job.context().pe.on_error = OnError::kExit;
  job.proxy.lose(1);
  std::atomic<unsigned> went_on{0};
  run_grid(2, 64, [&] {
    for (int i = 0; i < 20; ++i) {
      atomic_add(job.context(), job.data<Word>(), Word{1}, 2);
      if (exec::grid_rank() == 77 && i == 3) g(job.context(), job.data<Word>(), 1);
    }
    quiet(job.context());
    ++went_on;
  });
  EXPECT_EQ(went_on, 0u);
  EXPECT_EQ(job.error().pe, 1);
  // The FIFO stays usable: the next kernel's requests are taken.
  free_record(job);
  Word back = 0;
  run_threads(1, [&] { back = atomic_fetch(job.context(), job.data<Word>(), 2); });
  EXPECT_EQ(job.error().claimed, 0u);
  EXPECT_GT(back, 0u);
}

AT_EACH_PACE(Loss);

// ---- Waits that are given up --------------------------------------------------------------------

TEST(GivenUp, AWaitForAPeerNamesIt) {
  ProxyJob job(4);
  stop_waiting_soon(job);
  job.proxy.hold();
  run_threads(1, [&] { g(job.context(), job.data<Word>(), 3); });
  EXPECT_EQ(job.error().status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(job.error().pe, 3);
  EXPECT_EQ(job.error().expected, 1u);
  const auto* const answers = job.proxy.fifo().fifo.answers;
  const Word address = job.error().address;
  EXPECT_GE(address, reinterpret_cast<Word>(answers));
  EXPECT_LT(address, reinterpret_cast<Word>(answers + 64));
  EXPECT_EQ(abi::stop_of(job.proxy.fifo().progress.status), abi::Stop::kGaveUp);
  EXPECT_EQ(job.proxy.fault().published, abi::kFaultReported);
}

// A full FIFO: threads that wait for room leave, and so do all later ones.
TEST(GivenUp, AFullFifoIsLeftByAll) {
  ProxyJob job(3);
  stop_waiting_soon(job);
  job.proxy.hold();
  std::atomic<unsigned> returned{0};
  run_grid(2, 128, [&] {
    for (int i = 0; i < 4; ++i) p(job.context(), job.data<Word>() + exec::grid_rank(), Word{1}, 1);
    ++returned;
  });
  EXPECT_EQ(returned, 256u);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(job.error().pe, -1) << "no peer is to blame for a full FIFO";
  job.proxy.go_on();
  free_record(job);
  run_threads(1, [&] {
    g(job.context(), job.data<Word>(), 2);
    quiet(job.context());
  });
  EXPECT_EQ(job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.error().pe, 2);
}

TEST(GivenUp, AnAbortEndsEveryWait) {
  ProxyJob job(2);
  job.proxy.hold();
  std::thread aborts([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    job.job.raise_abort(0, CHIMEX_ERR_ABORTED, 1);
  });
  run_grid(2, 128, [&] {
    p(job.context(), job.data<Word>() + exec::grid_rank(), Word{1}, 1);
    quiet(job.context());
  });
  aborts.join();
  EXPECT_EQ(job.error().status, CHIMEX_ERR_ABORTED);
}

// A slot whose request is in flight stays taken until the proxy has finished with it.
TEST(GivenUp, AStagingSlotIsLeftToTheFifo) {
  ProxyPlan one;
  one.staging_slots = 2;  // one to a peer
  ProxyJob job(2, one);
  stop_waiting_soon(job);
  job.proxy.hold();
  std::byte mine[64] = {};
  run_threads(1, [&] { putmem(job.context(), Thread{}, job.data<std::byte>(), mine, 64, 1); });
  EXPECT_EQ(job.error().status, CHIMEX_ERR_TIMEOUT);
  const auto take = [&] { return staging::try_take_slot(job.context(), 1, 0); };
  EXPECT_EQ(take(), staging::kNoSlot);
  job.proxy.go_on();
  for (int i = 0; i < 1000 && take() == staging::kNoSlot; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(job.context().nic.staging.busy[abi::one_of_pair(0, 1)], abi::kNicSlotTaken)
      << "by this thread, now";
}

TEST(Closed, AFifoIsLeftAtOnce) {
  ProxyJob job(2);
  channel::stop(job.proxy.fifo(), abi::status_word(abi::Stop::kClosed));
  run_threads(1, [&] {
    p(job.context(), job.data<Word>(), Word{1}, 1);
    quiet(job.context());
  });
  EXPECT_EQ(job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.error().pe, 1);
  EXPECT_EQ(job.proxy.slots_taken(), 0u);
}

}  // namespace
}  // namespace chime::tests
