// The calls of thread.hpp: finds the running thread's block, or does what is possible on a host
// thread.
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "chime/device/simt/faults/immortal.hpp"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/memory/shared_memory.hpp"
#include "chime/device/simt/threads/block.hpp"
#include "chime/device/simt/threads/make_room.hpp"

namespace chime::simt {

namespace {

Thread& thread_in_kernel(const char* function) {
  if (!current_thread) fatal("%s was called outside a kernel", function);
  return running_thread();
}

// `kind`: the name in reports.
Meeting meeting_of_all(const Thread& self, const char* kind) {
  return {.kind = kind, .expected = self.block->threads};
}

// A host thread's turn of a spin loop: most turns stay on the processor. This function does not
// learn when a wait ends. So it makes room after half as many turns as a kernel, counted over all
// waits.
void host_pause() {
  static thread_local unsigned turns = 0;
  if (++turns >= hopeful_turns() / 2) {
    turns = 0;
    make_room();
  } else {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

}  // namespace

ThreadState* current_thread_out_of_line() { return current_thread; }

void poll_tick_out_of_line() {
  ThreadState* self = current_thread;
  if (self && (++self->polls & (kPollsPerYield - 1)) == 0) yield();
}

void wait_ended_out_of_line() {
  if (!current_thread) return;
  current_thread->block->idle_turns = 0;
  current_thread->long_wait.kind = 0;
}

// Never inline: the next thread of this place writes here, too, and TSan sees no order between
// them.
void wait_lasts(const LongWait& wait) {
  if (current_thread) current_thread->long_wait = wait;
}

void yield() {
  if (!current_thread) return host_pause();
  Thread& self = running_thread();
  block_of(self).yield(self);
}

void preempt() {
  if (current_thread) block_of(running_thread()).preempt(running_thread());
}

void scheduling_point() {
  if (!current_thread) return;
  Thread& self = running_thread();
  block_of(self).scheduling_point(self);
}

int sync_block(BlockReduction reduction, int value, Attendance attendance) {
  Thread& self = thread_in_kernel("sync_block");
  Meeting meeting = {.kind = "sync_block"};
  if (attendance == Attendance::kAll) {
    const bool is_or = reduction == BlockReduction::kOr;
    meeting = meeting_of_all(self, is_or ? "sync_whole_block_or" : "sync_whole_block");
  }
  meeting.reduction = reduction;
  return block_of(self).meet(self, 0, meeting, value);
}

bool last_of_block() {
  Thread& self = thread_in_kernel("enter_whole_block");
  return block_of(self).meet_and_hold(self, meeting_of_all(self, "enter_whole_block"));
}

void let_block_go() { block_of(running_thread()).let_block_go(running_thread()); }

bool last_of_warp(unsigned mask) {
  Thread& self = thread_in_kernel("an operation of a warp");
  return block_of(self).lanes_meet_and_hold(self, mask);
}

void let_warp_go() { block_of(running_thread()).let_warp_go(running_thread()); }

int sync_named(int id, unsigned threads, BlockReduction reduction, int value) {
  Thread& self = thread_in_kernel("sync_named");
  if (id < 1 || id >= kBarriers) {
    kernel_fault(self, "sync_named(%d, %u): ids are 1 to %d", id, threads, kBarriers - 1);
  }
  if (threads == 0 || threads % 32 || threads > (self.block->threads + 31) / 32 * 32) {
    kernel_fault(self,
                 "sync_named(%d, %u): the number of threads is a multiple of 32 up to the block's",
                 id, threads);
  }
  return block_of(self).meet(
      self, id, {.kind = "sync_named", .expected = threads, .reduction = reduction}, value);
}

void sync_grid() {
  Thread& self = thread_in_kernel("sync_grid");
  block_of(self).meet_grid(self);
}

LaneValue warp_collective(WarpOp op, unsigned mask, LaneValue value, unsigned argument,
                          Combine combine) {
  Thread& self = thread_in_kernel("a warp collective");
  return block_of(self).collective(self, {op, mask, value, argument, combine});
}

unsigned converged_lanes() {
  Thread& self = thread_in_kernel("active_mask");
  return block_of(self).converge(self, __builtin_return_address(0));
}

void end_thread() {
  if (!current_thread) fatal("end_thread was called outside a kernel");
  Thread& self = running_thread();
  block_of(self).end(self);
}

void end_kernel() {
  if (!current_thread) fatal("end_kernel was called outside a kernel");
  Thread& self = running_thread();
  block_of(self).end_kernel(self);
}

void commit() {
  if (current_thread) ++current_thread->commitments;
}

void keep_commitment() {
  if (current_thread) block_of(running_thread()).keep_commitment(running_thread());
}

void trap(const char* why) {
  if (!current_thread) fatal("trap: %s", why);
  report_trap(running_thread(), why);
  end_kernel();
}

// ---- Static shared memory -------------------------------------------------------------------

namespace {

struct SharedArena {
  std::mutex mutex;
  std::size_t bytes = 0;
};

SharedArena& shared_arena() { return immortal<SharedArena>(); }

}  // namespace

std::size_t reserve_shared(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(shared_arena().mutex);
  std::size_t& end = shared_arena().bytes;
  const std::size_t offset = (end + alignment - 1) / alignment * alignment;
  end = offset + bytes;
  return offset;
}

std::size_t shared_arena_bytes() {
  const TsanIgnores ignores;
  const std::lock_guard lock(shared_arena().mutex);
  return shared_arena().bytes;
}

}  // namespace chime::simt
