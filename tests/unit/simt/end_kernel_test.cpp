// A thread that ends the kernel takes the others with it, wherever they are.
#include <gtest/gtest.h>

#include <vector>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;
using exec::Order;
using exec::Scope;

class EndKernel : public testing::TestWithParam<std::uint64_t> {
 protected:
  // Seed 0: in order; odd seeds: weak memory too.
  void SetUp() override {
    simt::Options options = simt::options();
    options.seed = GetParam();
    options.weak = GetParam() % 2 == 1;
    simt::set_options(options);
  }
  void TearDown() override { simt::set_options({}); }

  template <class Kernel, class... A>
  void run(exec::dim3 grid, exec::dim3 block, Kernel kernel, A... arguments) {
    exec::LaunchConfig config;
    config.grid = grid;
    config.block = block;
    config.cooperative = grid.x > 1 && grid.x <= 8;
    ASSERT_EQ(exec::launch(config, kernel, arguments...), CHIMEX_OK);
    ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  }
};

// How the others wait when thread 0 of block 0 ends the kernel.
enum class At {
  kBlock,
  kVotes,
  kNamed,
  kWarp,
  kShuffle,
  kActiveMask,
  kPause,
  kPoll,
  kNanosleep,
  kGrid,
  kEverywhere
};

void wait_at(At at, const int* never) {
  switch (at) {
    case At::kBlock:
      return exec::sync_block();
    case At::kVotes:
      exec::sync_block_count(true);
      return;
    case At::kNamed:
      return exec::sync_named(3, 64);
    case At::kWarp:
      return exec::sync_warp();
    case At::kShuffle:
      exec::shfl(~0u, 1, 0);
      return;
    case At::kActiveMask:
      for (;;) exec::active_mask();
    case At::kPause:
      for (;;) exec::pause();
    case At::kPoll:
      while (exec::ld<Order::kAcquire, Scope::kSystem>(never) == 0) {
      }
      return;
    case At::kNanosleep:
      for (;;) exec::nanosleep(1000);
    case At::kGrid:
      return exec::sync_grid();
    case At::kEverywhere:
      break;
  }
}

struct Board {
  int never = 0;
  int came_back = 0;
  int started = 0;
};

CHIME_KERNEL void one_ends_the_rest_wait(At at, Board* board) {
  if (at == At::kEverywhere) {
    at = static_cast<At>(exec::warp_id() % static_cast<int>(At::kGrid));
    if (at == At::kVotes) at = At::kBlock;  // one barrier of the block at a time
  }
  if (exec::grid_rank() == 0) {
    for (int i = 0; i < 20; ++i) exec::pause();  // let the others come to their waits
    exec::end_kernel();
  }
  // A lane of the ender's warp, and the ender's block, would wait for it; so would others, because
  // they count on it.
  if (at != At::kGrid || exec::block_rank() != 1) {
    for (;;) {
      wait_at(at, &board->never);
      if (at != At::kPause && at != At::kPoll) exec::pause();
    }
  }
  exec::sync_grid();
  exec::atomic_add<Order::kRelaxed, Scope::kDevice>(&board->came_back, 1);
}

TEST_P(EndKernel, NoThreadComesBackFromAWait) {
  for (At at : {At::kBlock, At::kVotes, At::kNamed, At::kWarp, At::kShuffle, At::kActiveMask,
                At::kPause, At::kPoll, At::kNanosleep}) {
    SCOPED_TRACE(static_cast<int>(at));
    Board board;
    run(1, 64, one_ends_the_rest_wait, at, &board);
    EXPECT_EQ(board.came_back, 0);
  }
}

TEST_P(EndKernel, OtherBlocksEndToo) {
  for (At at : {At::kBlock, At::kPause, At::kPoll, At::kGrid}) {
    SCOPED_TRACE(static_cast<int>(at));
    Board board;
    run(4, 64, one_ends_the_rest_wait, at, &board);
    EXPECT_EQ(board.came_back, 0);
  }
}

TEST_P(EndKernel, WarpsThatWaitAtDifferentPlacesEnd) {
  Board board;
  run(2, 320, one_ends_the_rest_wait, At::kEverywhere, &board);
  EXPECT_EQ(board.came_back, 0);
}

CHIME_KERNEL void end_in_the_second_round(Board* board) {
  exec::sync_grid();
  if (exec::grid_rank() == 77) exec::end_kernel();
  exec::sync_grid();
  exec::atomic_add<Order::kRelaxed, Scope::kDevice>(&board->came_back, 1);
}

TEST_P(EndKernel, NoBlockPassesAGridBarrierThatAThreadDidNotReach) {
  for (int i = 0; i < 20; ++i) {
    Board board;
    run(3, 40, end_in_the_second_round, &board);
    EXPECT_EQ(board.came_back, 0);
  }
}

CHIME_KERNEL void count_blocks_and_end(Board* board) {
  exec::atomic_add<Order::kRelaxed, Scope::kDevice>(&board->started, 1);
  exec::end_kernel();
}

TEST_P(EndKernel, BlocksThatHaveNotBegunNeverDo) {
  Board board;
  run(5000, 1, count_blocks_and_end, &board);
  EXPECT_GE(board.started, 1);
  EXPECT_LT(board.started, 5000);
}

CHIME_KERNEL void count_threads(Board* board) {
  exec::sync_block();
  exec::sync_warp();
  exec::atomic_add<Order::kRelaxed, Scope::kDevice>(&board->started, 1);
}

TEST_P(EndKernel, TheNextKernelIsWhole) {
  Board board;
  run(2, 320, one_ends_the_rest_wait, At::kEverywhere, &board);
  run(2, 320, count_threads, &board);
  EXPECT_EQ(board.started, 640);
}

// Like an error record: written in several operations, by one thread among many that fail.
struct Record {
  unsigned claimed = 0;
  unsigned fields[6] = {};
};

CHIME_KERNEL void everybody_fails(Record* record) {
  if (exec::atomic_cas<Order::kRelaxed, Scope::kSystem>(&record->claimed, 0u, 1u) == 0) {
    for (unsigned& field : record->fields) exec::st<Order::kRelaxed, Scope::kSystem>(&field, 7u);
    exec::st<Order::kRelease, Scope::kSystem>(&record->claimed, 2u);
  }
  exec::end_kernel();
}

TEST_P(EndKernel, WhatAThreadDoesWithoutWaitingItDoesToTheEnd) {
  for (int i = 0; i < 50; ++i) {
    Record record;
    run(2, 32, everybody_fails, &record);
    EXPECT_EQ(record.claimed, 2u);
    EXPECT_EQ(record.fields[5], 7u);
  }
}

// All its waits are commitments, like those of calls that post to a NIC.
CHIME_KERNEL void wait_by_commitments(Board* board) {
  if (exec::grid_rank() == 0) {
    for (int i = 0; i < 20; ++i) exec::pause();
    exec::end_kernel();
  }
  for (int i = 0; i < 2000; ++i) {  // far more turns than the ender takes
    const exec::Committed committed;
    exec::pause();
  }
  exec::atomic_add<Order::kRelaxed, Scope::kDevice>(&board->came_back, 1);
}

TEST_P(EndKernel, BetweenCommitmentsAThreadEnds) {
  Board board;
  run(1, 64, wait_by_commitments, &board);
  EXPECT_EQ(board.came_back, 0);
}

struct Commitments {
  unsigned begun = 0, kept = 0;
  unsigned alone = 0;  // lanes that missed others of their group
};

// By polls, and by collectives of committed lanes, too. It does not end by itself.
CHIME_KERNEL void commit_again_and_again(Commitments* count) {
  if (exec::grid_rank() == 0) {
    for (int i = 0; i < 20; ++i) exec::pause();
    exec::end_kernel();
  }
  if (exec::warp_id() == 2) exec::sync_block();  // no other warp comes
  for (;;) {
    const exec::Committed committed;
    exec::atomic_add<Order::kRelaxed, Scope::kDevice>(&count->begun, 1u);
    const unsigned mask = exec::active_mask();
    for (int i = 0; i < 3; ++i) exec::pause();
    const unsigned met = exec::reduce_add(mask, 1u);
    if (met != exec::count_bits(mask))
      exec::atomic_add<Order::kRelaxed, Scope::kDevice>(&count->alone, 1u);
    exec::sync_warp(mask);
    const exec::Committed inner;
    exec::atomic_add<Order::kRelaxed, Scope::kDevice>(&count->kept, 1u);
  }
}

TEST_P(EndKernel, ACommittedThreadEndsWhenItIsDone) {
  for (int i = 0; i < 20; ++i) {
    Commitments count;
    run(2, 96, commit_again_and_again, &count);
    EXPECT_EQ(count.kept, count.begun);
    EXPECT_EQ(count.alone, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EndKernel, testing::Values(0, 1, 2, 3, 4, 5));

}  // namespace
