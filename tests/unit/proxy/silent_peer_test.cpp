// A peer that does not answer delays only threads that wait for it: host threads and blocks of
// kernels that share its FIFO go on with other peers.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "proxy_job.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;

constexpr std::uint32_t kDepth = 64;
constexpr unsigned kTimes = 10 * kDepth;
constexpr std::size_t kBytes = 64;

// Operations that wait for one request.
using Operation = std::function<void(ProxyJob&, int pe)>;
const Operation kOperations[] = {
    [](ProxyJob& job, int pe) { g(job.context(), job.data<Word>(), pe); },
    [](ProxyJob& job, int pe) { atomic_fetch_add(job.context(), job.data<Word>(), Word{0}, pe); },
    [](ProxyJob& job, int pe) {
      getmem(job.context(), Thread{}, job.data<std::byte>(0, 4096), job.data<std::byte>(), kBytes,
             pe);
    },
    [](ProxyJob& job, int pe) {  // through a staging slot
      std::byte mine[kBytes];
      getmem(job.context(), Thread{}, mine, job.data<std::byte>(), kBytes, pe);
    },
    [](ProxyJob& job, int pe) {
      putmem(job.context(), Thread{}, job.data<std::byte>(0, 8192), job.data<std::byte>(0, 4096),
             kBytes, pe);
    },
};
constexpr std::size_t kGet = 0;

// Two of three peers: the silent one, and the one that others go on with.
struct Who {
  int silent, other;
};

class SilentPeer : public testing::TestWithParam<Who> {
 protected:
  ProxyJob job{4, ProxyPlan{.depth = kDepth}};
  const Who who = GetParam();
  std::atomic<unsigned> returned{0}, times{0};

  void SetUp() override { job.proxy.silence(who.silent); }
  // No thread that waits for the silent peer has returned; now all do.
  void end_silence() {
    EXPECT_EQ(returned, 0u);
    EXPECT_GT(job.proxy.on_their_way(), 0u);
    job.proxy.answer(who.silent);
  }
  void go_on_with_other(const Operation& operation) {
    for (unsigned i = 0; i < kTimes; ++i) {
      operation(job, who.other);
      ++times;
    }
  }
};

// A host thread waits for the silent peer, another one does ten laps of the FIFO with another peer.
TEST_P(SilentPeer, HoldsUpNoOtherHostThread) {
  for (const Operation& waits : kOperations) {
    for (const Operation& goes_on : kOperations) {
      job.proxy.silence(who.silent);
      returned = times = 0;
      std::thread first([&] {
        waits(job, who.silent);
        ++returned;
      });
      while (job.proxy.on_their_way() == 0) std::this_thread::yield();
      go_on_with_other(goes_on);
      EXPECT_EQ(times, kTimes);
      end_silence();
      first.join();
      EXPECT_EQ(returned, 1u);
    }
  }
  EXPECT_EQ(job.error().claimed, 0u);
}

// More threads than the answers for one peer wait for it, in a block beside others.
TEST_P(SilentPeer, HoldsUpNoOtherThreadsOfAKernel) {
  constexpr unsigned kWaiting = 2 * kDepth, kOthers = 4;
  std::thread ends([&] {
    while (times < kOthers * kTimes) std::this_thread::yield();
    EXPECT_LE(job.proxy.on_their_way(), kDepth / 2) << "half of the answers are another peer's";
    end_silence();
  });
  run_threads(kWaiting + kOthers, [&] {
    if (exec::grid_rank() < kWaiting) {
      kOperations[kGet](job, who.silent);
      ++returned;
    } else {
      go_on_with_other(kOperations[exec::grid_rank() % 3]);
    }
  });
  ends.join();
  EXPECT_EQ(returned, kWaiting);
  EXPECT_EQ(job.error().claimed, 0u);
}

TEST_P(SilentPeer, HoldsUpNoOtherBlock) {
  std::thread ends([&] {
    while (times < kTimes) std::this_thread::yield();
    end_silence();
  });
  exec::LaunchConfig config;
  config.grid = 2;
  config.cooperative = true;  // both run at the same time
  const std::function<void()> body = [&] {
    if (exec::grid_rank() == 0) {
      kOperations[kGet](job, who.silent);
      ++returned;
    } else {
      go_on_with_other(kOperations[kGet]);
    }
  };
  ASSERT_EQ(exec::launch(config, call_body, &body), CHIMEX_OK);
  ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  ends.join();
  EXPECT_EQ(returned, 1u);
}

// Requests without a waiter fill no FIFO either: their posters wait, holding no slot.
TEST_P(SilentPeer, KeepsItsPostersOutAndNoOthers) {
  constexpr unsigned kPuts = 8 * kDepth;
  std::atomic<unsigned> posted{0};
  std::thread floods([&] {
    for (Word i = 0; i < kPuts; ++i) {
      p(job.context(), job.data<Word>(0, 1024) + i, i + 1, who.silent);
      ++posted;
    }
    ++returned;
  });
  const std::atomic_ref at_limit(const_cast<Word&>(job.proxy.fifo().fifo.at_limit[0]));
  while (!((at_limit.load(std::memory_order_relaxed) >> who.silent) & 1)) std::this_thread::yield();
  go_on_with_other(kOperations[kGet]);
  std::thread also_floods([&] {
    for (unsigned i = 0; i < kTimes; ++i)
      p(job.context(), job.data<Word>(0, 512), Word{i}, who.other);
    ++times;
  });
  also_floods.join();
  EXPECT_EQ(times, kTimes + 1);
  EXPECT_LE(posted, 2 * kDepth) << "a lap, and half of one";
  EXPECT_LE(job.proxy.on_their_way(), 2 * kDepth);
  end_silence();
  floods.join();
  job.quiet();
  for (Word i = 0; i < kPuts; ++i) ASSERT_EQ(job.data<Word>(who.silent, 1024)[i], i + 1);
  EXPECT_EQ(job.error().claimed, 0u);
}

TEST_P(SilentPeer, HoldsUpQuiet) {
  p(job.context(), job.data<Word>(0, 64), Word{1}, who.silent);
  p(job.context(), job.data<Word>(0, 64), Word{2}, who.other);
  std::thread quiets([&] {
    job.quiet();
    ++returned;
  });
  go_on_with_other(kOperations[kGet]);
  end_silence();
  quiets.join();
  EXPECT_EQ(*job.data<Word>(who.silent, 64), 1u);
}

// Each of two silent peers has a half of the answers, and so has a third peer.
TEST_P(SilentPeer, LeavesRoomBesideAnotherOne) {
  constexpr unsigned kWaiting = 2 * kDepth;
  job.proxy.silence(3);
  std::thread ends([&] {
    while (times < kTimes) std::this_thread::yield();
    end_silence();
    job.proxy.answer(3);
  });
  run_threads(kWaiting + 1, [&] {
    if (exec::grid_rank() < kWaiting) {
      kOperations[kGet](job, exec::grid_rank() % 2 == 0 ? who.silent : 3);
      ++returned;
    } else {
      go_on_with_other(kOperations[kGet]);
    }
  });
  ends.join();
  EXPECT_EQ(returned, kWaiting);
}

// A thread that waits for an answer gives up like any wait, and reports the PE.
TEST_P(SilentPeer, IsNamedByTheCallThatGivesUp) {
  job.context().pe.wait_timeout_ns = 50'000'000;
  run_threads(2 * kDepth, [&] {
    kOperations[kGet](job, who.silent);
    ++returned;
  });
  EXPECT_EQ(returned, 2 * kDepth);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(job.error().pe, who.silent);
}

INSTANTIATE_TEST_SUITE_P(Who, SilentPeer, testing::Values(Who{1, 2}, Who{2, 1}),
                         [](const auto& info) {
                           return "Pe" + std::to_string(info.param.silent) + "Beside" +
                                  std::to_string(info.param.other);
                         });

// ---- A peer's share -----------------------------------------------------------------------------

TEST(Pairs, OfAnyTwoPeersEachHasSomeThatTheOtherHasNot) {
  for (int a = 0; a < 300; ++a) {
    for (int b = 0; b < a; ++b) {
      unsigned apart = 0;
      for (std::uint32_t pair = 0; pair < kDepth / 2; ++pair) {
        ASSERT_EQ(abi::one_of_pair(pair, a) / 2, pair);
        apart += abi::one_of_pair(pair, a) != abi::one_of_pair(pair, b);
      }
      EXPECT_GE(apart, 3u) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace chime::tests
