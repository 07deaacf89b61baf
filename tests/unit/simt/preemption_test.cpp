// Kernels that wait without a call of the executor: compiled with chime_preempt.
#include <gtest/gtest.h>

#include <algorithm>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;

void run(exec::dim3 grid, exec::dim3 block, auto kernel, auto... arguments) {
  exec::LaunchConfig config;
  config.grid = grid;
  config.block = block;
  ASSERT_EQ(exec::launch(config, kernel, arguments...), CHIMEX_OK);
  ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
}

CHIME_KERNEL void spin_on_a_later_thread(int* flag, int* out) {
  if (exec::thread_rank() == 0) {
    while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) {
    }
    *out = 7;
  }
  if (exec::thread_rank() == 63) __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

TEST(Preemption, RawSpinLoopMakesProgress) {
  int flag = 0, out = 0;
  run(1, 64, spin_on_a_later_thread, &flag, &out);
  EXPECT_EQ(out, 7);
}

CHIME_KERNEL void spin_on_a_later_block(int* flags) {
  const unsigned next = (exec::block_rank() + 1) % exec::grid_blocks();
  if (exec::thread_rank() == 0) __atomic_store_n(&flags[exec::block_rank()], 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&flags[next], __ATOMIC_RELAXED) == 0) {
  }
}

TEST(Preemption, RawSpinLoopOnAnotherBlockMakesProgress) {
  const unsigned blocks = std::min(40u, simt::options().resident_blocks);
  int flags[40] = {};
  run(blocks, 32, spin_on_a_later_block, flags);
  for (unsigned block = 0; block < blocks; ++block) EXPECT_EQ(flags[block], 1);
}

CHIME_KERNEL void count_under_a_lock(int* lock, int* count) {
  for (int i = 0; i < 100; ++i) {
    while (__sync_lock_test_and_set(lock, 1)) {
    }
    *count += 1;
    __sync_lock_release(lock);
  }
}

TEST(Preemption, RawSpinLockIsHandedOn) {
  int lock = 0, count = 0;
  run(4, 64, count_under_a_lock, &lock, &count);
  EXPECT_EQ(count, 4 * 64 * 100);
}

}  // namespace
