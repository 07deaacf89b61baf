// Weak mode shows a missing release, fence or barrier under some seed, and never lets a correct
// program fail.
//
// Each litmus runs a writer and a reader, and counts over many seeds how often the reader saw the
// flag without the data.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;
using exec::Order;
using exec::Scope;

constexpr unsigned kSeeds = 200;
constexpr unsigned kWriters = 64;  // threads of the writing block

struct Words {
  std::uint32_t data[kWriters] = {};
  alignas(64) std::uint32_t flag = 0;
  alignas(64) std::uint32_t middle = 0;
  int broken = 0;
};

void set_mode(std::uint64_t seed, bool weak) {
  simt::Options options = simt::options();
  options.seed = seed;
  options.weak = weak;
  simt::set_options(options);
}

// Whether `kernel`, run on `grid` blocks, counts an error under `seed`.
bool breaks(unsigned seed, void (*kernel)(Words*), exec::dim3 grid = 2, bool weak = true) {
  set_mode(seed, weak);
  Words words;
  exec::LaunchConfig config;
  config.grid = grid;
  config.block = kWriters;
  config.cooperative = true;
  EXPECT_EQ(exec::launch(config, kernel, &words), CHIMEX_OK) << exec::last_error();
  EXPECT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  set_mode(0, false);
  return words.broken != 0;
}

int broken_seeds(void (*kernel)(Words*), exec::dim3 grid = 2, bool weak = true) {
  int broken = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) broken += breaks(seed, kernel, grid, weak);
  return broken;
}

// The reader: one thread of the last block. It acquires the flag and counts missing data.
CHIME_DEVICE void expect_data(Words* words, unsigned count) {
  if (exec::thread_rank() != 0) return;
  while (exec::ld<Order::kAcquire>(&words->flag) == 0) exec::pause();
  for (unsigned i = 0; i < count; ++i) {
    if (exec::ld(&words->data[i]) != i + 1) words->broken = 1;
  }
}

CHIME_DEVICE bool reads() { return exec::block_rank() == exec::grid_blocks() - 1; }

// ---- One thread writes data, then the flag --------------------------------------------------

enum class How { kRelaxed, kRelease, kFence, kAcquireFence, kBlockFence, kAtomic, kAtomicRelease };

template <How how>
CHIME_KERNEL void message(Words* words) {
  if (reads()) return expect_data(words, 1);
  if (exec::thread_rank() != 0) return;
  exec::st(&words->data[0], 1u);
  if constexpr (how == How::kRelaxed) exec::st(&words->flag, 1u);
  if constexpr (how == How::kRelease) exec::st<Order::kRelease>(&words->flag, 1u);
  if constexpr (how == How::kFence) {
    exec::fence<Order::kRelease>();
    exec::st(&words->flag, 1u);
  }
  if constexpr (how == How::kAcquireFence) {
    exec::fence<Order::kAcquire>();
    exec::st(&words->flag, 1u);
  }
  if constexpr (how == How::kBlockFence) {
    exec::fence<Order::kAcqRel, Scope::kBlock>();
    exec::st(&words->flag, 1u);
  }
  if constexpr (how == How::kAtomic) exec::atomic_add(&words->flag, 1u);
  if constexpr (how == How::kAtomicRelease) exec::red_add<Order::kRelease>(&words->flag, 1u);
}

TEST(WeakMemory, MessageNeedsARelease) {
  EXPECT_GT(broken_seeds(message<How::kRelaxed>), 0);
  EXPECT_EQ(broken_seeds(message<How::kRelease>), 0);
}

TEST(WeakMemory, MessageNeedsAReleasingFence) {
  EXPECT_EQ(broken_seeds(message<How::kFence>), 0);
  EXPECT_GT(broken_seeds(message<How::kAcquireFence>), 0);
  EXPECT_GT(broken_seeds(message<How::kBlockFence>), 0);
}

TEST(WeakMemory, AtomicsPassStoresUnlessTheyRelease) {
  EXPECT_GT(broken_seeds(message<How::kAtomic>), 0);
  EXPECT_EQ(broken_seeds(message<How::kAtomicRelease>), 0);
}

TEST(WeakMemory, OnlyWeakModeShowsIt) {
  EXPECT_EQ(broken_seeds(message<How::kRelaxed>, 2, false), 0);
}

// ---- All threads of a block write data, the leader writes the flag --------------------------

enum class Meet { kNot, kWarp, kBlock };

template <Meet meet, Order order>
CHIME_KERNEL void block_message(Words* words) {
  if (reads()) return expect_data(words, kWriters);
  const unsigned rank = exec::thread_rank();
  exec::st(&words->data[rank], rank + 1);
  if constexpr (meet == Meet::kBlock) exec::sync_block();
  if constexpr (meet == Meet::kWarp) exec::sync_warp();
  if (rank == 0) exec::st<order>(&words->flag, 1u);
}

TEST(WeakMemory, ReleaseIsCumulativeOverTheBlockBarrier) {
  EXPECT_EQ((broken_seeds(block_message<Meet::kBlock, Order::kRelease>)), 0);
  EXPECT_GT((broken_seeds(block_message<Meet::kBlock, Order::kRelaxed>)), 0);
}

TEST(WeakMemory, ReleaseNeedsTheBarrier) {
  EXPECT_GT((broken_seeds(block_message<Meet::kNot, Order::kRelease>)), 0);
  EXPECT_GT((broken_seeds(block_message<Meet::kWarp, Order::kRelease>)), 0);
}

// The first warp alone writes and meets.
template <Order order>
CHIME_KERNEL void warp_message(Words* words) {
  if (reads()) return expect_data(words, 32);
  const unsigned rank = exec::thread_rank();
  if (rank >= 32) return;
  exec::st(&words->data[rank], rank + 1);
  exec::sync_warp();
  if (rank == 7) exec::st<order>(&words->flag, 1u);
}

TEST(WeakMemory, ReleaseIsCumulativeOverTheWarpBarrier) {
  EXPECT_EQ(broken_seeds(warp_message<Order::kRelease>), 0);
  EXPECT_GT(broken_seeds(warp_message<Order::kRelaxed>), 0);
}

// ---- Blocks write, the grid meets, one thread of another block signals ----------------------

template <bool with_fence>
CHIME_KERNEL void grid_message(Words* words) {
  const unsigned rank = exec::thread_rank(), block = exec::block_rank();
  if (block < 2 && rank < kWriters / 2) {
    const unsigned i = block * kWriters / 2 + rank;
    exec::st(&words->data[i], i + 1);
  }
  exec::sync_grid();
  if (reads()) return expect_data(words, kWriters);
  if (block == 2 && rank == 5) {
    if (with_fence) exec::fence<Order::kAcqRel>();
    exec::st(&words->flag, 1u);
  }
}

// The reader is in the same grid, whose barrier orders the data for it: read memory itself.
template <bool with_fence>
CHIME_KERNEL void grid_message_to_host(Words* words) {
  const unsigned rank = exec::thread_rank(), block = exec::block_rank();
  exec::st(&words->data[rank], rank + 1);
  exec::sync_grid();
  if (block == 1 && rank == 5) {
    if (with_fence) exec::fence<Order::kAcqRel>();
    for (unsigned i = 0; i < kWriters; ++i) {
      if (__atomic_load_n(&words->data[i], __ATOMIC_RELAXED) != i + 1) words->broken = 1;
    }
  }
}

TEST(WeakMemory, GridBarrierOrdersTheGrid) {
  EXPECT_EQ(broken_seeds(grid_message<false>, 4), 0);
  EXPECT_EQ(broken_seeds(grid_message<true>, 4), 0);
}

TEST(WeakMemory, FenceAfterTheGridBarrierOrdersTheSystem) {
  EXPECT_EQ(broken_seeds(grid_message_to_host<true>), 0);
  EXPECT_GT(broken_seeds(grid_message_to_host<false>), 0);
}

// ---- A thread that waits for its warp, block or grid --------------------------------------------

// It stores a word without a release and meets its group. A member waits for the answer of another
// block before it comes, and that block waits for the word: hardware completes the store at last,
// whatever the storing thread waits for.
enum class At { kSyncWarp, kShuffle, kBallot, kMatch, kReduce, kElect, kSyncBlock, kSyncGrid };

template <At at>
CHIME_DEVICE void meet_mates() {
  constexpr unsigned kAll = ~0u;
  if constexpr (at == At::kSyncWarp) exec::sync_warp();
  if constexpr (at == At::kShuffle) exec::shfl(kAll, 1, 0);
  if constexpr (at == At::kBallot) exec::ballot(kAll, true);
  if constexpr (at == At::kMatch) exec::match_any(kAll, 1);
  if constexpr (at == At::kReduce) exec::reduce_add(kAll, 1);
  if constexpr (at == At::kElect) exec::elect_one(kAll);
  if constexpr (at == At::kSyncBlock) exec::sync_block();
}

CHIME_DEVICE bool becomes_one(const std::uint32_t* word) {
  constexpr std::uint64_t kPatienceNs = 20'000'000'000;
  const std::uint64_t start = exec::clock_ns();
  while (exec::ld<Order::kAcquire>(word) != 1) {
    if (exec::clock_ns() - start > kPatienceNs) return false;
    exec::pause();
  }
  return true;
}

template <At at>
CHIME_KERNEL void question_of_a_waiting_thread(Words* words) {
  constexpr unsigned kAsks = 40, kHears = 50;  // of one warp
  const unsigned rank = exec::thread_rank();
  if (reads()) {
    if (rank == 0 && becomes_one(&words->flag)) exec::st<Order::kRelease>(&words->middle, 1u);
  } else {
    if (rank == kAsks) exec::st(&words->flag, 1u);
    if (rank == kHears && !becomes_one(&words->middle)) words->broken = 1;
    meet_mates<at>();
  }
  if constexpr (at == At::kSyncGrid) exec::sync_grid();
}

// Ends at the first failing seed: each one would take its whole time limit.
template <At at>
bool is_answered() {
  bool answered = true;
  for (unsigned seed = 1; answered && seed <= 20; ++seed) {
    answered = !breaks(seed, question_of_a_waiting_thread<at>);
  }
  return answered;
}

TEST(WeakMemory, StoresOfAThreadThatWaitsReachMemory) {
  ASSERT_TRUE(is_answered<At::kSyncWarp>());
  ASSERT_TRUE(is_answered<At::kShuffle>());
  ASSERT_TRUE(is_answered<At::kBallot>());
  ASSERT_TRUE(is_answered<At::kMatch>());
  ASSERT_TRUE(is_answered<At::kReduce>());
  ASSERT_TRUE(is_answered<At::kElect>());
  ASSERT_TRUE(is_answered<At::kSyncBlock>());
  ASSERT_TRUE(is_answered<At::kSyncGrid>());
}

// ---- Coherence ------------------------------------------------------------------------------

// A thread sees its own stores, its block sees them after a barrier, and words never go back.
CHIME_KERNEL void coherence(Words* words) {
  const unsigned rank = exec::thread_rank();
  if (reads()) {
    std::uint32_t last = 0;
    for (int i = 0; i < 50; ++i) {
      const std::uint32_t seen = exec::ld_volatile(&words->middle);
      if (seen < last) words->broken = 1;
      last = seen;
    }
    return;
  }
  for (std::uint32_t round = 0; round < 4; ++round) {
    exec::st(&words->data[rank], round * 100 + rank);
    if (exec::ld(&words->data[rank]) != round * 100 + rank) words->broken = 1;
    if (rank == round) exec::st(&words->middle, round + 1);
    exec::sync_block();
    if (exec::ld(&words->data[rank ^ 1]) % 1000 != round * 100 + (rank ^ 1)) words->broken = 1;
    if (exec::ld(&words->middle) != round + 1) words->broken = 1;
    if (rank % 32 == 0) exec::atomic_add(&words->data[rank], 1000u);
    exec::sync_warp();
    if (exec::ld(&words->data[rank]) % 1000 != round * 100 + rank) words->broken = 1;
    exec::sync_block();
  }
}

TEST(WeakMemory, EachWordIsCoherent) { EXPECT_EQ(broken_seeds(coherence), 0); }

// Stores of different sizes to the same bytes keep their order.
CHIME_KERNEL void mixed_sizes(Words* words) {
  if (exec::thread_rank() != 0 || reads()) return;
  auto* wide = reinterpret_cast<std::uint64_t*>(words->data);
  auto* bytes = reinterpret_cast<std::uint8_t*>(words->data);
  exec::st(wide, std::uint64_t{0x1111111111111111});
  exec::st(&words->data[1], 0x22222222u);
  exec::st(bytes + 5, std::uint8_t{0x33});
  if (exec::ld(wide) != 0x2222332211111111u) words->broken = 1;
  exec::st(wide + 1, std::uint64_t{0x4444444444444444});
  exec::atomic_add(&words->data[0], 1u);
  if (exec::ld(wide) != 0x2222332211111112u) words->broken = 1;
  exec::fence();
  if (__atomic_load_n(wide, __ATOMIC_RELAXED) != 0x2222332211111112u) words->broken = 1;
}

TEST(WeakMemory, OverlappingStoresKeepTheirOrder) { EXPECT_EQ(broken_seeds(mixed_sizes), 0); }

// ---- The kernel's end -----------------------------------------------------------------------

CHIME_KERNEL void fill(Words* words) {
  const unsigned rank = exec::thread_rank();
  exec::Vec16 value = {{rank, rank + 1, rank + 2, rank + 3}};
  if (rank % 4 == 0) exec::st16(&words->data[rank], value);
  if (rank == 63) exec::end_thread();
  exec::sync_block();
  if (rank == 1) exec::st(&words->flag, 9u);
}

TEST(WeakMemory, KernelCompletionIsARelease) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    set_mode(seed, true);
    Words words;
    exec::LaunchConfig config;
    config.block = kWriters;
    ASSERT_EQ(exec::launch(config, fill, &words), CHIMEX_OK);
    ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
    EXPECT_EQ(words.flag, 9u);
    for (unsigned i = 0; i < kWriters; ++i) EXPECT_EQ(words.data[i], i);
  }
  set_mode(0, false);
}

// ---- Another process's view: a host thread reads --------------------------------------------

template <Order order>
CHIME_KERNEL void message_to_host(Words* words) {
  exec::st(&words->data[exec::thread_rank()], exec::thread_rank() + 1);
  exec::sync_block();
  if (exec::thread_rank() == 3) exec::st<order>(&words->flag, 1u);
  for (int i = 0; i < 20; ++i) exec::pause();
}

template <Order order>
int broken_seeds_of_host() {
  int broken = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    set_mode(seed, true);
    Words words;
    exec::LaunchConfig config;
    config.block = kWriters;
    EXPECT_EQ(exec::launch(config, message_to_host<order>, &words), CHIMEX_OK);
    while (exec::ld<Order::kAcquire>(&words.flag) == 0) exec::pause();
    bool complete = true;
    for (unsigned i = 0; i < kWriters; ++i) complete &= exec::ld(&words.data[i]) == i + 1;
    broken += !complete;
    EXPECT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  }
  set_mode(0, false);
  return broken;
}

TEST(WeakMemory, HostSeesAMessageWhole) {
  EXPECT_EQ(broken_seeds_of_host<Order::kRelease>(), 0);
  EXPECT_GT(broken_seeds_of_host<Order::kRelaxed>(), 0);
}

}  // namespace
