// A block from its set-up to its end; block_*.cpp have the work of its threads.
#include "chime/device/simt/threads/block.hpp"

#include <sched.h>

#include <cstdlib>

#include "chime/device/simt/faults/faults.hpp"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/memory/shared_memory.hpp"
#include "chime/device/simt/threads/grid.hpp"

namespace chime::simt {

__thread ThreadState* current_thread = nullptr;

namespace {

constexpr std::size_t kSharedAlignment = 128;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

Block::Block() {
  fiber_adopt_thread(main_);
  report_faults();
}
Block::~Block() = default;

void Block::Free::operator()(std::byte* memory) const {
  const TsanIgnores ignores;
  std::free(memory);
}

Block::Memory Block::allocate(std::size_t bytes) {
  const TsanIgnores ignores;
  void* memory = std::aligned_alloc(kSharedAlignment, round_up(bytes, kSharedAlignment));
  if (!memory) fatal("no memory for %zu bytes of shared memory", bytes);
  return Memory(static_cast<std::byte*>(memory));
}

void Block::release_memory() {
  stacks_.release_memory();
  shared_memory_.reset();
  shared_capacity_ = 0;
}

void Block::set_up(Launch& launch, std::uint64_t rank) {
  const exec::dim3 grid = launch.config.grid;
  launch_ = &launch;
  grid_dim = grid;
  block_dim = launch.config.block;
  block_rank = rank;
  grid_blocks = launch.blocks;
  block_idx = {static_cast<unsigned>(rank % grid.x), static_cast<unsigned>(rank / grid.x % grid.y),
               static_cast<unsigned>(rank / grid.x / grid.y)};
  threads = block_dim.x * block_dim.y * block_dim.z;
  context = launch.context;
  weak = launch.options.weak;
  seeded = weak || launch.options.seed != 0;
  random_ = Random(mix(launch.options.seed) ^ mix(launch.serial + 1) ^ mix(~rank));
  barriers_ = {};
  idle_turns = 0;
  any_ended_early_ = false;
  gives_up_ = false;
  bulk_copies_ = {};
  stores_.set_up((threads + 31) / 32, &launch.stores, &random_);
  block_sources_ = {};
  warp_sources_.assign((threads + 31) / 32, {});
  set_up_shared_memory();
  set_up_threads();
}

// Under TSan each block gets new memory. Otherwise TSan would compare its accesses with those of
// the previous block to the same bytes.
void Block::set_up_shared_memory() {
  const std::size_t arena = round_up(shared_arena_bytes(), kSharedAlignment);
  const std::size_t bytes = arena + launch_->config.shared_bytes + kSharedAlignment;
  if (kTsan || bytes > shared_capacity_) {
    shared_memory_ = allocate(bytes);
    shared_capacity_ = bytes;
  }
  if (kTsan) sync_cells_ = allocate((kBarriers + kMaxBlockThreads / 32) * 8);
  shared = shared_memory_.get();
  dynamic_shared = shared + arena;
}

void Block::set_up_threads() {
  const TsanIgnores ignores;
  if (threads_.size() < threads) threads_.resize(threads);
  const unsigned warps = (threads + 31) / 32;
  if (warps_.size() < warps) warps_.resize(warps);
  for (unsigned warp = 0; warp < warps; ++warp) {
    const unsigned lanes = threads - warp * 32;
    warps_[warp].set_up(lanes >= 32 ? ~0u : (1u << lanes) - 1);
  }
  unsigned rank = 0;
  for (unsigned z = 0; z < block_dim.z; ++z) {
    for (unsigned y = 0; y < block_dim.y; ++y) {
      for (unsigned x = 0; x < block_dim.x; ++x, ++rank) {
        Thread& thread = threads_[rank];
        thread.block = this;
        thread.thread_idx = {x, y, z};
        thread.rank = rank;
        thread.lane = rank % 32;
        thread.warp = rank / 32;
        thread.polls = 0;
        thread.long_wait.kind = 0;
        thread.commitments = 0;
        thread.warp_calls = thread.block_calls = 0;
        thread.fiber.sp = nullptr;
        thread.fiber.sanitizer = {nullptr, tsan_create_fiber()};
      }
    }
  }
  live_.clear();
  live_.add_first(threads);
  runnable_ = live_;
  withholding_.clear();
  live_count_ = threads;
}

void Block::tear_down() {
  if (kTsan) {
    for (unsigned rank = 0; rank < threads; ++rank) {
      launch_->ended_fibers.add(threads_[rank].fiber.sanitizer.tsan);
    }
    shared_memory_.reset();
    sync_cells_.reset();
  }
  launch_ = nullptr;
}

// A thread that looks only copies a few words, so this waits briefly.
void Block::close_to_lookers() {
  while (is_closed_.exchange(true, std::memory_order_acquire)) sched_yield();
}

void Block::run(Launch& launch, std::uint64_t rank) {
  set_up(launch, rank);
  open_to_lookers();
  main_.sanitizer.tsan = tsan_current_fiber();
  Thread& first = threads_[seeded ? random_.below(threads) : 0];
  if (!first.fiber.sp) start_fiber(first);
  current_thread = &first;
  fiber_switch(main_, first.fiber);
  if (weak) stores_.block_ended();
  launch.grid_barrier.count_out(any_ended_early_);
  close_to_lookers();
  tear_down();
}

}  // namespace chime::simt
