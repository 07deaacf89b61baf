// All peers share the staging slots, and a peer that does not answer keeps at most half of them:
// further transfers to it wait, and transfers to other peers go on.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "chime/abi/pairs.h"
#include "chime/abi/words.h"
#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "proxy_job.hpp"

namespace chime::tests {
namespace {

using Word = std::uint64_t;

constexpr std::uint32_t kSlots = 64;
constexpr unsigned kWaiting = kSlots + 16;
constexpr unsigned kTimes = 40;  // of each other thread
constexpr std::size_t kBytes = 64;

// Two or three of four peers: those that do not answer, and the one that others go on with.
struct Who {
  std::vector<int> silent;
  int other;
};

class StagingSlots : public testing::TestWithParam<Who> {
 protected:
  ProxyJob job{4, ProxyPlan{.staging_slots = kSlots}};
  const std::vector<int> silent = GetParam().silent;
  const int other = GetParam().other;
  std::atomic<unsigned> gone_on{0}, returned{0};

  void SetUp() override {
    for (const int pe : silent) job.proxy.silence(pe);
  }

  // Through a slot, because stacks are not registered with the proxy.
  void get(int pe) {
    std::byte mine[kBytes];
    getmem(job.context(), Thread{}, mine, job.data<std::byte>(), kBytes, pe);
  }
  void put(int pe) {
    const std::byte mine[kBytes] = {};
    putmem(job.context(), Thread{}, job.data<std::byte>(0, 4096), mine, kBytes, pe);
  }

  void wait_for_a_silent_one(unsigned rank) {
    const int pe = silent[rank % silent.size()];
    rank / silent.size() % 2 == 0 ? get(pe) : put(pe);
    ++returned;
  }
  // Once the silent peers have all the slots that they may have.
  void go_on_with_other() {
    while (job.proxy.on_their_way() < most_of_silent()) exec::pause();
    for (unsigned i = 0; i < kTimes; ++i) i % 2 == 0 ? get(other) : put(other);
    ++gone_on;
  }
  // One has half of all. Another one has a half, too, which shares a part with the first.
  std::size_t most_of_silent() const {
    std::set<std::uint32_t> theirs;
    for (const int pe : silent)
      for (std::uint32_t pair = 0; pair < kSlots / 2; ++pair)
        theirs.insert(abi::one_of_pair(pair, pe));
    return theirs.size();
  }

  void end_silence_after(unsigned others) {
    while (gone_on < others) std::this_thread::yield();
    EXPECT_EQ(returned, 0u);
    EXPECT_EQ(slots_in_use(), most_of_silent());
    for (const int pe : silent) job.proxy.answer(pe);
  }
  std::size_t slots_in_use() {
    const std::span busy(job.context().nic.staging.busy, kSlots);
    return static_cast<std::size_t>(std::count_if(busy.begin(), busy.end(), [](Word& word) {
      return std::atomic_ref(word).load(std::memory_order_relaxed) != abi::kNicSlotFree;
    }));
  }
  void expect_all_went_well() {
    EXPECT_EQ(returned, kWaiting);
    EXPECT_EQ(slots_in_use(), 0u);
    EXPECT_EQ(job.error().claimed, 0u) << "status " << job.error().status;
  }
};

TEST_P(StagingSlots, OfThreadsOfABlockAreLeftToOtherPeers) {
  constexpr unsigned kOthers = 4;
  std::thread ends([&] { end_silence_after(kOthers); });
  run_threads(kWaiting + kOthers, [&] {
    exec::grid_rank() < kWaiting ? wait_for_a_silent_one(exec::grid_rank()) : go_on_with_other();
  });
  ends.join();
  expect_all_went_well();
}

TEST_P(StagingSlots, OfBlocksAreLeftToOtherPeers) {
  constexpr unsigned kBlocks = kWaiting / 8;  // and one more, with another peer
  std::thread ends([&] { end_silence_after(8); });
  exec::LaunchConfig config;
  config.grid = kBlocks + 1;
  config.block = 8;
  config.cooperative = true;  // all run at the same time
  const std::function<void()> body = [&] {
    exec::grid_rank() < kWaiting ? wait_for_a_silent_one(exec::grid_rank()) : go_on_with_other();
  };
  ASSERT_EQ(exec::launch(config, call_body, &body), CHIMEX_OK);
  ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  ends.join();
  expect_all_went_well();
}

TEST_P(StagingSlots, OfHostThreadsAreLeftToOtherPeers) {
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < kWaiting; ++rank)
    threads.emplace_back([&, rank] { wait_for_a_silent_one(rank); });
  threads.emplace_back([&] { go_on_with_other(); });
  end_silence_after(1);
  for (std::thread& thread : threads) thread.join();
  expect_all_went_well();
}

INSTANTIATE_TEST_SUITE_P(Who, StagingSlots,
                         testing::Values(Who{{1}, 2}, Who{{2}, 1}, Who{{1, 2}, 3}, Who{{1, 3}, 2}),
                         [](const auto& info) {
                           std::string name = "Pe";
                           for (const int pe : info.param.silent) name += std::to_string(pe);
                           return name + "Beside" + std::to_string(info.param.other);
                         });

}  // namespace
}  // namespace chime::tests
