#include "chime/device/simt/block.hpp"

#include <sched.h>
#include <time.h>

#include <cstdlib>
#include <exception>
#include <new>

#include "chime/device/simt/grid.hpp"
#include "chime/device/simt/report.hpp"
#include "chime/device/simt/shared_memory.hpp"
#include "chime/device/simt/stack_overflow.hpp"

namespace chime::simt {

__thread ThreadState* current_thread = nullptr;

namespace {

constexpr std::size_t kSharedAlignment = 128;
constexpr std::size_t kStackReserve = 1024;  // less than this left at a switch is an overflow

constexpr const char* kGridBarrier = "sync_grid";

// Without sanitizers a thread that ends hands its warm stack to one that starts.
constexpr bool kHandOverStacks = !kAsan && !kTsan;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

// ---- Set-up ---------------------------------------------------------------------------------

Block::Block() {
  fiber_adopt_thread(main_);
  report_stack_overflows();
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
  set_up_shared_memory();
  set_up_threads();
}

// Under TSan each block gets new memory, so that it is not blamed for what the last block here did
// to the same bytes.
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

void Block::run(Launch& launch, std::uint64_t rank) {
  set_up(launch, rank);
  main_.sanitizer.tsan = tsan_current_fiber();
  Thread& first = threads_[seeded ? random_.below(threads) : 0];
  if (!first.fiber.sp) start_fiber(first);
  current_thread = &first;
  fiber_switch(main_, first.fiber);
  if (weak) stores_.block_ended();
  launch.grid_barrier.count_out(any_ended_early_);
  tear_down();
}

// ---- Whose turn it is -----------------------------------------------------------------------

Thread* Block::pick_next(const Thread& self) {
  unsigned from = self.rank + 1;
  if (seeded) from = random_.below(threads);
  if (from >= threads) from = 0;
  const unsigned rank = runnable_.next_from(from, threads);
  return rank == ThreadSet::kNone ? nullptr : &threads_[rank];
}

void Block::start_fiber(Thread& thread) {
  constexpr std::size_t kColours = 32, kColourBytes = 128;
  fiber_prepare(thread.fiber, stacks_.get(), thread.rank % kColours * kColourBytes, &thread_main,
                &thread);
}

void Block::check_stack(const Thread& self) const {
  const std::byte* here = static_cast<const std::byte*>(__builtin_frame_address(0));
  if (here < self.fiber.stack.low + kStackReserve) {
    kernel_fault(self, "stack overflow (%zu KiB): raise CHIME_SIMT_STACK_KB",
                 self.fiber.stack.bytes / 1024);
  }
}

void Block::switch_to(Thread& self, Thread& next) {
  if (!next.fiber.sp) start_fiber(next);
  current_thread = &next;
  fiber_switch(self.fiber, next.fiber);
}

void Block::wait(Thread& self, const char* at, unsigned mask) {
  self.waits_at = at;
  self.wait_mask = mask;
  runnable_.remove(self.rank);
  Thread* next = pick_next(self);
  if (!next) report_deadlock(*this);
  if (weak && !self.stores.empty()) withholding_.add(self.rank);
  switch_to(self, *next);
  if (weak) withholding_.remove(self.rank);
  if (gives_up_) end(self);  // what woke it was not what it waited for
}

bool Block::whole_turn_passed(const Thread& self, const Thread& next) const {
  return next.rank <= self.rank;
}

void Block::yield(Thread& self) {
  give_way(self);
  end_if_abandoned(self);
}

// A turn that the thread did not ask for: it does not end here, whatever it is in the middle of.
void Block::preempt(Thread& self) { give_way(self); }

void Block::give_way(Thread& self) {
  check_stack(self);
  if (weak) leak(self);
  Thread* next = pick_next(self);
  if (whole_turn_passed(self, *next)) idle_turn();
  if (next != &self) switch_to(self, *next);
}

// No thread ends here (end_if_abandoned): what it does by several operations, as publishing an
// error record, it does to the end.
void Block::scheduling_point(Thread& self) {
  constexpr unsigned kSwitchOneIn = 4;
  if (!seeded) return;
  if (weak) leak(self);
  if (!random_.one_in(kSwitchOneIn)) return;
  check_stack(self);
  Thread* next = pick_next(self);
  if (next != &self) switch_to(self, *next);
}

// Lets at most one store reach memory. It may be one of a thread that waits: nobody else would let
// it out, and another block may wait for it.
void Block::leak(Thread& self) {
  const unsigned waiting = withholding_.next_from(random_.below(threads), threads);
  const bool is_its_turn = waiting != ThreadSet::kNone && random_.one_in(2);
  stores_.leak(place_of(is_its_turn ? threads_[waiting] : self));
}

// Every thread of the block had its turn and only waited. First hope, then make room for other
// blocks, then for other processes, and sleep when it takes long.
void Block::idle_turn() {
  constexpr unsigned kHopeful = 64, kAwake = 20'000;
  ++idle_turns;
  if (idle_turns % 16 == 0) grow(*launch_);
  if (idle_turns <= kHopeful) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else if (idle_turns <= kAwake) {
    sched_yield();
  } else {
    const timespec nap{0, 50'000};
    nanosleep(&nap, nullptr);
  }
}

// ---- The life of a thread -------------------------------------------------------------------

void Block::thread_main(void* argument) {
  Thread* self = static_cast<Thread*>(argument);
  fiber_entered();
  while (self) {
    Block& block = block_of(*self);
    happens_after(block.launch_);
    try {
      if (!block.gives_up_) block.launch_->call.run_thread();
    } catch (const std::exception& error) {
      kernel_fault(*self, "an exception left the kernel: %s", error.what());
    } catch (...) {
      kernel_fault(*self, "an exception left the kernel");
    }
    self = block.retire(*self);
  }
}

// Where a thread asks for others' turn or waits for them, it ends if another one called end_kernel.
void Block::end_if_abandoned(Thread& self) {
  if (!launch_->is_abandoned()) return;
  release_all_to_end();
  end(self);
}

// From here on nobody waits in this block: what waits is made runnable, to end where it waited, and
// what runs ends before it would wait.
void Block::release_all_to_end() {
  if (gives_up_) return;
  const TsanIgnores ignores;  // assignments of whole objects are calls of memcpy, which TSan sees
  gives_up_ = true;
  barriers_ = {};
  for (Warp& warp : warps_) warp.forget_waiting_lanes();
  runnable_ = live_;
}

// Ends `self`. Returns the thread that goes on at the bottom of the same stack; switches away if
// none does.
Thread* Block::retire(Thread& self) {
  happens_before(&launch_->done);
  check_stack(self);
  if (!StackPool::canary_lives(self.fiber.stack)) {
    kernel_fault(self, "stack overflow (%zu KiB): raise CHIME_SIMT_STACK_KB",
                 self.fiber.stack.bytes / 1024);
  }
  if (weak) stores_.thread_ended(place_of(self));
  self.fences.thread_ended();
  idle_turns = 0;
  count_out(self);
  Thread* next = pick_next(self);
  if (!next && live_count_) report_deadlock(*this);
  if (next && !next->fiber.sp && kHandOverStacks) {
    next->fiber.stack = self.fiber.stack;
    next->fiber.sp = self.fiber.stack.low;  // started: never again null
    current_thread = next;
    return next;
  }
  stacks_.put_after_switch(self.fiber.stack);
  if (next && !next->fiber.sp) start_fiber(*next);
  current_thread = next;
  fiber_leave(self.fiber, next ? next->fiber : main_);
}

// Barriers and collectives that waited for nobody else are complete now.
void Block::count_out(Thread& self) {
  runnable_.remove(self.rank);
  live_.remove(self.rank);
  --live_count_;
  Warp& warp = warps_[self.warp];
  release_lanes(self.warp, warp.count_out(self.lane, seeded ? &random_ : nullptr));
  for (Barrier& barrier : barriers_) {
    if (is_complete(barrier)) complete(barrier);
  }
}

void Block::end(Thread& self) {
  any_ended_early_ = true;
  const StackSpan stack = self.fiber.stack;
  Thread* next = retire(self);
  // `next` inherited this stack: it starts afresh at the top, over frames that nobody returns to.
  fiber_prepare(next->fiber, stack, 0, &thread_main, next);
  fiber_leave(self.fiber, next->fiber);
}

void Block::end_kernel(Thread& self) {
  launch_->abandon();
  release_all_to_end();
  end(self);
}

// ---- Barriers -------------------------------------------------------------------------------

int Block::named_barrier_of(unsigned rank) const {
  for (int id = 1; id < kBarriers; ++id) {
    if (barrier(id).waiting.contains(rank)) return id;
  }
  return 0;
}

bool Block::is_complete(const Barrier& barrier) const {
  if (!barrier.arrived) return false;
  return barrier.arrived >= (barrier.expected ? barrier.expected : live_count_);
}

void Block::join(Barrier& barrier, Thread& self, unsigned expected, const char* kind,
                 BlockReduction reduction, int value) {
  if (barrier.arrived == 0) {
    barrier.kind = kind;
    barrier.expected = expected;
    barrier.reduction = reduction;
    barrier.accumulated = reduction == BlockReduction::kAnd;
  } else if (barrier.kind != kind || barrier.expected != expected ||
             barrier.reduction != reduction) {
    kernel_fault(self, "divergence: it calls %s(%u threads) where others wait at %s(%u threads)",
                 kind, expected, barrier.kind, barrier.expected);
  }
  switch (reduction) {
    case BlockReduction::kNone:
      break;
    case BlockReduction::kCount:
      barrier.accumulated += value != 0;
      break;
    case BlockReduction::kAnd:
      barrier.accumulated &= value != 0;
      break;
    case BlockReduction::kOr:
      barrier.accumulated |= value != 0;
      break;
  }
  ++barrier.arrived;
}

void Block::complete(Barrier& barrier) {
  if (barrier.kind == kGridBarrier) {
    if (weak) stores_.meet_grid();
    grow_to_all(*launch_);
    launch_->grid_barrier.arrive_and_wait();
    if (launch_->is_abandoned()) return release_all_to_end();
  }
  barrier.result = barrier.accumulated;
  barrier.arrived = 0;
  runnable_.take(barrier.waiting, threads);
  idle_turns = 0;
}

int Block::meet(Thread& self, int index, unsigned expected, const char* kind,
                BlockReduction reduction, int value) {
  check_stack(self);
  end_if_abandoned(self);
  Barrier& barrier = barriers_[static_cast<std::size_t>(index)];
  const void* cell = sync_cell(static_cast<unsigned>(index));
  happens_before(cell);
  if (weak) stores_.meet_block(place_of(self));
  join(barrier, self, expected, kind, reduction, value);
  if (is_complete(barrier)) {
    complete(barrier);
    if (gives_up_) end(self);
  } else {
    barrier.waiting.add(self.rank);
    wait(self, kind, 0);
  }
  happens_after(cell);
  return barrier.result;
}

void Block::meet_grid(Thread& self) {
  if (!launch_->config.cooperative) {
    kernel_fault(self,
                 "sync_grid in a launch that is not cooperative: set LaunchConfig::cooperative");
  }
  happens_before(&launch_->grid_barrier);
  meet(self, 0, 0, kGridBarrier, BlockReduction::kNone, 0);
  happens_after(&launch_->grid_barrier);
}

// ---- Warps ----------------------------------------------------------------------------------

void Block::release_lanes(unsigned warp, unsigned lanes) {
  if (!lanes) return;
  const int odd = warps_[warp].odd_lane();
  if (odd >= 0) {
    const LaneRequest& request = warps_[warp].request(static_cast<unsigned>(odd));
    kernel_fault(
        threads_[warp * 32 + static_cast<unsigned>(odd)],
        "divergence: it calls %s(mask %08x) where other lanes of that mask call something else",
        name_of(request.op), request.mask);
  }
  runnable_.add_lanes(warp, lanes);
  idle_turns = 0;
}

LaneValue Block::collective(Thread& self, const LaneRequest& request) {
  check_stack(self);
  end_if_abandoned(self);
  Warp& warp = warps_[self.warp];
  if (!(request.mask >> self.lane & 1)) {
    kernel_fault(self, "divergence: lane %u calls %s with mask %08x, which does not contain it",
                 self.lane, name_of(request.op), request.mask);
  }
  LaneRequest members_only = request;
  members_only.mask &= warp.members();
  const bool orders = request.op == WarpOp::kSync;
  const void* cell = sync_cell(kBarriers + self.warp);
  if (orders) {
    happens_before(cell);
    if (weak) stores_.meet_warp(place_of(self));
  }
  const unsigned lanes = warp.arrive(self.lane, members_only, seeded ? &random_ : nullptr);
  if (lanes) {
    release_lanes(self.warp, lanes);
  } else {
    wait(self, name_of(request.op), members_only.mask);
  }
  if (orders) happens_after(cell);
  return warp.result(self.lane);
}

// A group closes when no other lane of the warp can run up to the site any more, or when a lane of
// it loses patience: after some turns, or, where a seed says so, on arrival.
unsigned Block::converge(Thread& self, const void* site) {
  constexpr unsigned kImpatientOneIn = 16, kSeededTurns = 8, kTurns = 2;
  Warp& warp = warps_[self.warp];
  unsigned patience = kTurns;
  if (seeded) patience = random_.one_in(kImpatientOneIn) ? 0 : kSeededTurns;
  self.group_lanes = 0;
  warp.wait_at_site(self.lane, site);
  for (; !self.group_lanes; yield(self)) {
    const unsigned could_come = runnable_.lanes_of(self.warp) & ~warp.lanes_at_sites();
    if (could_come && patience-- > 0) continue;
    const unsigned lanes = warp.lanes_at_site(site);
    warp.leave_site(lanes);
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lanes >> lane & 1) threads_[self.warp * 32 + lane].group_lanes = lanes;
    }
    break;
  }
  return self.group_lanes;
}

}  // namespace chime::simt
