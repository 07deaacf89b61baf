// The order of threads, the part that every rendezvous uses: inline, for the files that implement
// Block.
#pragma once

#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/threads/block.hpp"
#include "chime/device/simt/threads/grid.hpp"

namespace chime::simt {

inline constexpr std::size_t kStackReserve =
    1024;  // if less is left at a switch, it is an overflow

inline Thread* Block::pick_next(const Thread& self) {
  unsigned from = self.rank + 1;
  if (seeded) from = random_.below(threads);
  if (from >= threads) from = 0;
  const unsigned rank = runnable_.next_from(from, threads);
  return rank == ThreadSet::kNone ? nullptr : &threads_[rank];
}

inline void Block::check_stack(const Thread& self) const {
  const std::byte* here = static_cast<const std::byte*>(__builtin_frame_address(0));
  if (here < self.fiber.stack.low + kStackReserve) {
    kernel_fault(self, "stack overflow (%zu KiB): raise CHIME_SIMT_STACK_KB",
                 self.fiber.stack.bytes / 1024);
  }
}

inline void Block::switch_to(Thread& self, Thread& next) {
  if (!next.fiber.sp) start_fiber(next);
  current_thread = &next;
  fiber_switch(self.fiber, next.fiber);
}

inline void Block::wait(Thread& self, const char* at, unsigned mask) {
  self.waits_at = at;
  self.wait_mask = mask;
  runnable_.remove(self.rank);
  Thread* next = pick_next(self);
  if (!next) report_deadlock(*this);
  if (weak && !self.stores.empty()) withholding_.add(self.rank);
  switch_to(self, *next);
  if (weak) withholding_.remove(self.rank);
  if (must_end(self)) end(self);  // it was not woken by its event
}

// Called where a thread lets others run or waits for them. The thread ends if another one called
// end_kernel, unless it is committed.
inline void Block::end_if_abandoned(Thread& self) {
  if (!launch_->is_abandoned()) return;
  release_all_to_end();
  if (must_end(self)) end(self);
}

}  // namespace chime::simt
