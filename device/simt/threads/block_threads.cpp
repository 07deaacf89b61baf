// The life of a thread: its start, and the kinds of its end.
#include <exception>

#include "chime/device/simt/threads/block_turns.hpp"

namespace chime::simt {

namespace {

// Without sanitizers a thread that ends passes its warm stack to one that starts.
constexpr bool kHandOverStacks = !kAsan && !kTsan;

}  // namespace

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

// From here on only committed threads wait in this block. A thread that waits becomes runnable, and
// ends where it waited; a thread that runs ends before it would wait. Committed lanes wait only for
// each other.
void Block::release_all_to_end() {
  if (gives_up_) return;
  const TsanIgnores ignores;  // assignments of whole objects are calls of memcpy, which TSan sees
  gives_up_ = true;
  barriers_ = {};
  for (unsigned rank = 0; rank < threads; ++rank) {
    const Thread& thread = threads_[rank];
    if (!live_.contains(rank) || thread.commitments != 0) continue;
    warps_[thread.warp].forget_waiting_lane(thread.lane);
    runnable_.add(rank);
  }
}

// The launch may have been abandoned during the commitment.
void Block::keep_commitment(Thread& self) {
  if (--self.commitments == 0) end_if_abandoned(self);
}

// Ends `self`. Returns the thread that continues at the bottom of the same stack; switches away if
// there is none.
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
    next->fiber.sp = self.fiber.stack.low;  // marks it as started
    current_thread = next;
    return next;
  }
  stacks_.put_after_switch(self.fiber.stack);
  if (next && !next->fiber.sp) start_fiber(*next);
  current_thread = next;
  fiber_leave(self.fiber, next ? next->fiber : main_);
}

// Completes barriers and collectives that waited for this thread alone.
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
  // `next` inherited this stack: it starts at the top, over frames that are never returned to.
  fiber_prepare(next->fiber, stack, 0, &thread_main, next);
  fiber_leave(self.fiber, next->fiber);
}

void Block::end_kernel(Thread& self) {
  launch_->abandon();
  release_all_to_end();
  end(self);
}

}  // namespace chime::simt
