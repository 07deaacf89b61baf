// Kernels on the SIMT executor: identity, barriers, warp collectives, shared memory, cooperative
// grids.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;

exec::LaunchConfig shape(exec::dim3 grid, exec::dim3 block) {
  exec::LaunchConfig config;
  config.grid = grid;
  config.block = block;
  return config;
}

template <class... P, class... A>
void run(const exec::LaunchConfig& config, void (*kernel)(P...), A&&... arguments) {
  ASSERT_EQ(exec::launch(config, kernel, std::forward<A>(arguments)...), CHIMEX_OK)
      << exec::last_error();
  ASSERT_EQ(exec::stream_synchronize(config.stream), CHIMEX_OK);
}

CHIME_KERNEL void record_ranks(int* seen) { seen[exec::grid_rank()] += 1; }

TEST(Kernel, EveryThreadRunsOnce) {
  std::vector<int> seen(5 * 3 * 2 * 100);
  run(shape({5, 3, 2}, {10, 5, 2}), record_ranks, seen.data());
  for (int count : seen) EXPECT_EQ(count, 1);
}

CHIME_KERNEL void record_identity(unsigned* errors) {
  const exec::uint3 t = exec::thread_idx(), b = exec::block_idx();
  const exec::dim3 d = exec::block_dim(), g = exec::grid_dim();
  const unsigned rank = t.x + d.x * (t.y + d.y * t.z);
  const unsigned block = b.x + g.x * (b.y + g.y * b.z);
  bool ok = exec::thread_rank() == rank && exec::block_rank() == block;
  ok &= exec::lane_id() == rank % 32 && exec::warp_id() == rank / 32;
  ok &= exec::block_threads() == d.x * d.y * d.z && exec::grid_blocks() == g.x * g.y * g.z;
  ok &= exec::grid_rank() == std::uint64_t{block} * exec::block_threads() + rank;
  ok &= exec::in_kernel();
  if (!ok) exec::atomic_add(errors, 1u);
}

TEST(Kernel, HasItsCoordinates) {
  unsigned errors = 0;
  run(shape({3, 2, 2}, {7, 3, 2}), record_identity, &errors);
  EXPECT_EQ(errors, 0u);
  EXPECT_FALSE(exec::in_kernel());
}

CHIME_KERNEL void rotate_through_shared(const int* in, int* out, int rounds) {
  CHIME_SHARED_ARRAY(int, values, 256);
  const unsigned rank = exec::thread_rank(), n = exec::block_threads();
  values[rank] = in[exec::grid_rank()];
  for (int i = 0; i < rounds; ++i) {
    exec::sync_block();
    const int next = values[(rank + 1) % n];
    exec::sync_block();
    values[rank] = next;
  }
  out[exec::grid_rank()] = values[rank];
}

TEST(Kernel, SharedMemoryAndBarriers) {
  constexpr int kBlocks = 9, kThreads = 200, kRounds = 7;
  std::vector<int> in(kBlocks * kThreads), out(in.size());
  std::iota(in.begin(), in.end(), 0);
  run(shape(kBlocks, kThreads), rotate_through_shared, in.data(), out.data(), kRounds);
  for (int b = 0; b < kBlocks; ++b) {
    for (int t = 0; t < kThreads; ++t) {
      EXPECT_EQ(out[b * kThreads + t], in[b * kThreads + (t + kRounds) % kThreads]);
    }
  }
}

template <class T>
CHIME_KERNEL void two_shared_variables(T* out) {
  CHIME_SHARED_VAR(T, a);
  CHIME_SHARED_VAR(T, b);
  if (exec::thread_rank() == 0) {
    a = T(1);
    b = T(2);
  }
  exec::sync_block();
  if (exec::thread_rank() == 1) *out = a + b;
}

TEST(Kernel, SharedVariablesOfTemplatesAreDistinct) {
  int i = 0;
  double d = 0;
  run(shape(1, 2), two_shared_variables<int>, &i);
  run(shape(1, 2), two_shared_variables<double>, &d);
  EXPECT_EQ(i, 3);
  EXPECT_EQ(d, 3.0);
}

CHIME_KERNEL void reverse_dynamic(int* data) {
  CHIME_DYNAMIC_SHARED(int, buffer);
  const unsigned rank = exec::thread_rank(), n = exec::block_threads();
  buffer[rank] = data[rank];
  exec::sync_block();
  data[rank] = buffer[n - 1 - rank];
}

TEST(Kernel, DynamicSharedMemoryIsAligned) {
  std::vector<int> data(1024);
  std::iota(data.begin(), data.end(), 0);
  exec::LaunchConfig config = shape(1, 1024);
  config.shared_bytes = 4096;
  run(config, reverse_dynamic, data.data());
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(data[i], 1023 - i);
}

CHIME_KERNEL void block_votes(int* out) {
  const unsigned rank = exec::thread_rank();
  const int count = exec::sync_block_count(rank % 3 == 0);
  const bool all = exec::sync_block_and(rank < 1000), not_all = exec::sync_block_and(rank != 5);
  const bool some = exec::sync_block_or(rank == 7), none = exec::sync_block_or(false);
  if (rank == 0) {
    out[0] = count;
    out[1] = all && !not_all && some && !none;
  }
}

TEST(Kernel, BlockReductions) {
  int out[2] = {};
  run(shape(1, 100), block_votes, out);
  EXPECT_EQ(out[0], 34);
  EXPECT_EQ(out[1], 1);
}

CHIME_KERNEL void leave_early(int* out) {
  const unsigned rank = exec::thread_rank();
  if (rank >= 40) return;
  if (rank >= 35) exec::end_thread();
  out[rank] = exec::sync_block_count(true);
}

TEST(Kernel, BarriersCountEndedThreadsOut) {
  std::vector<int> out(64, -1);
  run(shape(1, 64), leave_early, out.data());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 35 ? 35 : -1);
}

CHIME_KERNEL void named_barriers(int* out) {
  CHIME_SHARED_ARRAY(int, data, 128);
  const unsigned rank = exec::thread_rank(), half = rank / 64;
  data[rank] = static_cast<int>(rank);
  if (half == 0) {  // only this half meets
    for (int i = 0; i < 10; ++i) exec::sync_named(3, 64);
    out[rank] = data[rank ^ 63];
  } else {
    out[rank] = -1;
  }
}

TEST(Kernel, NamedBarriersTakePartOfABlock) {
  std::vector<int> out(128);
  run(shape(1, 128), named_barriers, out.data());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], i ^ 63);
}

// The last 36 of the block's 100 threads meet, 4 of which are a warp; and the others meet.
CHIME_KERNEL void barriers_with_a_warp_that_is_cut_short(int* out) {
  CHIME_SHARED_ARRAY(int, data, 100);
  const unsigned rank = exec::thread_rank();
  const bool is_late = rank >= 64;
  data[rank] = static_cast<int>(rank);
  const bool held = exec::sync_named_or(is_late ? 3 : 15, 64, rank == 99);
  out[rank] = (held ? 1000 : 0) + data[is_late ? 163 - rank : 63 - rank];
}

TEST(Kernel, NamedBarriersCountAWarpThatIsCutShortAsWhole) {
  std::vector<int> out(100);
  run(shape(1, 100), barriers_with_a_warp_that_is_cut_short, out.data());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 63 - i);
  for (int i = 64; i < 100; ++i) EXPECT_EQ(out[i], 1000 + 163 - i);
}

struct Pair {
  double a;
  int b;
};

CHIME_KERNEL void shuffles(int* errors) {
  const unsigned lane = exec::lane_id(), full = ~0u;
  const int v = static_cast<int>(lane) * 10;
  bool ok = exec::shfl(full, v, 5) == 50;
  ok &= exec::shfl_xor(full, v, 3) == static_cast<int>(lane ^ 3) * 10;
  ok &= exec::shfl_up(full, v, 4) == (lane < 4 ? v : v - 40);
  ok &= exec::shfl_down(full, v, 4) == (lane > 27 ? v : v + 40);
  const Pair p = exec::shfl(full, Pair{lane + 0.5, v}, 31);
  ok &= p.a == 31.5 && p.b == 310;
  ok &= exec::ballot(full, lane % 2) == 0xaaaaaaaau;
  ok &= exec::any(full, lane == 9) && !exec::any(full, false);
  ok &= exec::all(full, true) && !exec::all(full, lane != 9);
  ok &= exec::match_any(full, lane / 8) == 0xffu << lane / 8 * 8;
  ok &= exec::reduce_add(full, v) == 4960;
  ok &= exec::reduce_add(full, 0.25) == 8.0;
  if (!ok) exec::atomic_add(errors, 1);
}

TEST(Warp, Collectives) {
  int errors = 0;
  run(shape(3, 96), shuffles, &errors);
  EXPECT_EQ(errors, 0);
}

CHIME_KERNEL void divergent_collectives(unsigned* out) {
  const unsigned lane = exec::lane_id();
  const unsigned mine = lane % 3 == 0 ? 0x49249249u : ~0x49249249u;
  unsigned sum = 0;
  if (lane % 3 == 0) {
    for (int i = 0; i < 4; ++i) sum += exec::reduce_add(mine, lane);
  } else {
    sum = exec::ballot(mine, true);
  }
  exec::sync_warp();
  out[lane] = sum;
}

TEST(Warp, DisjointMasksRunDifferentCode) {
  std::vector<unsigned> out(32);
  run(shape(1, 32), divergent_collectives, out.data());
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[lane], lane % 3 == 0 ? 4 * 165u : ~0x49249249u) << lane;
  }
}

CHIME_KERNEL void partial_warp(unsigned* out) {
  out[exec::thread_rank()] = exec::ballot(~0u, true);
  const bool leader = exec::elect_one(~0u);
  out[exec::thread_rank()] += leader ? 0x1000000u : 0;
}

TEST(Warp, LastWarpMayBePartial) {
  std::vector<unsigned> out(40);
  run(shape(1, 40), partial_warp, out.data());
  for (int i = 32; i < 40; ++i) EXPECT_EQ(out[i] & 0xffffffu, 0xffu);
  int leaders = 0;
  for (int i = 32; i < 40; ++i) leaders += out[i] >> 24;
  EXPECT_EQ(leaders, 1);
}

CHIME_KERNEL void count_phases(int* counts, int phases, int* errors) {
  const int blocks = static_cast<int>(exec::grid_blocks());
  for (int i = 0; i < phases; ++i) {
    if (exec::thread_rank() == 0) exec::atomic_add(&counts[i], 1);
    exec::sync_grid();
    if (exec::ld(&counts[i]) != blocks) exec::atomic_add(errors, 1);
  }
}

TEST(Grid, CooperativeBlocksMeet) {
  constexpr int kPhases = 20;
  std::vector<int> counts(kPhases);
  int errors = 0;
  exec::LaunchConfig config = shape(13, 64);
  config.cooperative = true;
  run(config, count_phases, counts.data(), kPhases, &errors);
  EXPECT_EQ(errors, 0);
  for (int count : counts) EXPECT_EQ(count, 13);
}

CHIME_KERNEL void pass_token(int* token) {
  const int block = static_cast<int>(exec::block_rank());
  if (exec::thread_rank() ==
      0) {  // later blocks are waited for as well: block 0 waits for the last
    while (exec::ld<exec::Order::kAcquire>(token) != block) exec::pause();
    exec::st<exec::Order::kRelease>(token, block + 1);
    const int blocks = static_cast<int>(exec::grid_blocks());
    while (exec::ld<exec::Order::kAcquire>(token) != blocks) exec::pause();
  }
}

TEST(Grid, BlocksThatWaitForEachOtherAllRun) {
  const unsigned blocks = std::min(40u, simt::options().resident_blocks);
  int token = 0;
  run(shape(blocks, 32), pass_token, &token);
  EXPECT_EQ(token, static_cast<int>(blocks));
}

CHIME_KERNEL void copy_in_bulk(const int* in, int* out) {
  CHIME_SHARED_VAR(exec::Mbarrier, barrier);
  CHIME_SHARED_ARRAY(exec::Vec16, words, 64);
  int* staged = reinterpret_cast<int*>(words);
  const unsigned rank = exec::thread_rank();
  staged[rank] = -1;
  if (rank == 0) exec::mbarrier_init(&barrier, 1);
  exec::sync_block();
  if (rank == 0) {
    exec::mbarrier_expect_tx(&barrier, 1024);
    exec::bulk_to_shared(staged, in, 1024, &barrier);
  }
  const int before = staged[rank];
  exec::sync_block();
  while (!exec::mbarrier_try_wait(&barrier, 0)) exec::pause();
  staged[rank] += before;
  exec::sync_block();
  if (rank == 0) {
    exec::bulk_from_shared(out, staged, 1024);
    exec::bulk_commit();
    exec::bulk_wait_all();
  }
}

TEST(BulkCopy, HappensAtTheWait) {
  std::vector<int> in(256), out(256);
  std::iota(in.begin(), in.end(), 100);
  run(shape(1, 256), copy_in_bulk, in.data(), out.data());
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out[i], 100 + i - 1);
}

CHIME_KERNEL void copy_in_groups(const int* in, int* out, int* after_wait) {
  CHIME_SHARED_ARRAY(exec::Vec16, words, 2);
  std::memcpy(words, in, sizeof words);
  for (int group = 0; group < 2; ++group) {
    exec::bulk_from_shared(out + 4 * group, words + group, 16);
    exec::bulk_commit();
  }
  simt::bulk_wait(1);
  after_wait[0] = out[0], after_wait[1] = out[4];
  exec::bulk_wait_all();
}

TEST(BulkCopy, AWaitForAllGroupsButTheLatestLeavesThatOneUndone) {
  const std::vector<int> in{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int> out(8), after_wait(2);
  run(shape(1, 1), copy_in_groups, in.data(), out.data(), after_wait.data());
  EXPECT_EQ(after_wait, (std::vector<int>{1, 0}));
  EXPECT_EQ(out, in);
}

CHIME_KERNEL void count_arrivals(bool* before, bool* after, unsigned* phases) {
  CHIME_SHARED_VAR(exec::Mbarrier, barrier);
  simt::mbarrier_init(&barrier, 3);
  phases[0] = simt::mbarrier_arrive(&barrier, 1, 0);
  *before = exec::mbarrier_try_wait(&barrier, 0);
  phases[1] = simt::mbarrier_arrive(&barrier, 2, 0);
  phases[2] = simt::mbarrier_arrive(&barrier, 1, 0);  // no thread waited for the phase before
  *after = exec::mbarrier_try_wait(&barrier, 0);
}

TEST(BulkCopy, AnMbarrierWithoutCopiesIsCompleteWithItsLastArrival) {
  bool before = true, after = false;
  unsigned phases[3] = {9, 9, 9};
  run(shape(1, 1), count_arrivals, &before, &after, phases);
  EXPECT_FALSE(before);
  EXPECT_TRUE(after);
  EXPECT_EQ(phases[0], 0u);
  EXPECT_EQ(phases[1], 0u);
  EXPECT_EQ(phases[2], 1u);
}

CHIME_KERNEL void try_atomics(std::uint64_t* u, int* i, float* f, exec::half* h) {
  using enum exec::Order;
  exec::atomic_add(u, 2);
  exec::atomic_add<kAcqRel, exec::Scope::kDevice>(f, 0.5f);
  exec::atomic_max(i, static_cast<int>(exec::grid_rank()));
  if (exec::grid_rank() == 0) exec::st(h, exec::half(1.5f));
}

TEST(Memory, AtomicsOfAllThreadsCount) {
  std::uint64_t u = 0;
  int i = -1;
  float f = 0;
  exec::half h(0.0f);
  run(shape(8, 64), try_atomics, &u, &i, &f, &h);
  EXPECT_EQ(u, 1024u);
  EXPECT_EQ(i, 511);
  EXPECT_EQ(f, 256.0f);
  EXPECT_EQ(static_cast<float>(h), 1.5f);
}

TEST(Memory, WorksOnHostThreads) {
  int x = 3;
  EXPECT_EQ(exec::atomic_add(&x, 4), 3);
  EXPECT_EQ(exec::atomic_exchange(&x, 9), 7);
  EXPECT_EQ(exec::atomic_cas(&x, 9, 10), 9);
  EXPECT_EQ(exec::atomic_cas(&x, 9, 11), 10);
  EXPECT_EQ(exec::atomic_min(&x, -5), 10);
  EXPECT_EQ(exec::atomic_max(&x, 6), -5);
  EXPECT_EQ(exec::atomic_and(&x, 2), 6);
  EXPECT_EQ(exec::atomic_or(&x, 5), 2);
  EXPECT_EQ(exec::atomic_xor(&x, 1), 7);
  EXPECT_EQ(exec::ld<exec::Order::kAcquire>(&x), 6);
  exec::st<exec::Order::kRelease>(&x, 1);
  exec::fence();
  exec::pause();
  EXPECT_EQ(exec::ld_volatile(&x), 1);
}

}  // namespace
