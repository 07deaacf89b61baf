// Barriers of the block, and of the grid: one thread of each block arrives there for all of it.
#include <string>

#include "chime/device/simt/threads/block_turns.hpp"

namespace chime::simt {

namespace {

constexpr const char* kGridBarrier = "sync_grid";

void accumulate(Barrier& barrier, bool value) {
  switch (barrier.meeting.reduction) {
    case BlockReduction::kNone:
      break;
    case BlockReduction::kCount:
      barrier.accumulated += value;
      break;
    case BlockReduction::kAnd:
      barrier.accumulated &= value;
      break;
    case BlockReduction::kOr:
      barrier.accumulated |= value;
      break;
  }
}

// "sync_block that counts", "a barrier of 64 threads".
std::string name_of(const Meeting& meeting) {
  constexpr const char* kReductions[] = {"", " that counts", " with and", " with or"};
  std::string name = meeting.kind + std::string(kReductions[static_cast<int>(meeting.reduction)]);
  if (meeting.expected != 0) name += " of " + std::to_string(meeting.expected) + " threads";
  return name;
}

[[gnu::cold]] [[noreturn]] void report_divergence(const Thread& self, const Meeting& meeting,
                                                  const Meeting& others) {
  kernel_fault(self, "divergence: it calls %s where others wait at %s", name_of(meeting).c_str(),
               name_of(others).c_str());
}

[[gnu::cold]] [[noreturn]] void report_absence(const Thread& self, const Meeting& meeting,
                                               unsigned living) {
  kernel_fault(self,
               "divergence: it is in %s, which all its %u threads must call, but %u have ended",
               meeting.kind, meeting.expected, meeting.expected - living);
}

// At a barrier of warps, a warp that the block's end makes shorter counts as a whole one, as on a
// GPU: its first lane also counts for the missing ones.
unsigned threads_it_stands_for(const Thread& self) {
  const unsigned threads = self.block->threads;
  const bool is_first_of_last = self.lane == 0 && self.rank + 32 > threads;
  return is_first_of_last ? self.rank + 32 - threads + 1 : 1;
}

void join(Barrier& barrier, const Thread& self, Meeting meeting, int value, unsigned weight = 1) {
  if (barrier.arrived == 0) {
    barrier.meeting = meeting;
    barrier.accumulated = meeting.reduction == BlockReduction::kAnd;
  } else if (barrier.meeting != meeting) {
    report_divergence(self, meeting, barrier.meeting);
  }
  if (meeting.reduction != BlockReduction::kNone) accumulate(barrier, value != 0);
  barrier.arrived += weight;
}

}  // namespace

int Block::named_barrier_of(unsigned rank) const {
  for (int id = 1; id < kBarriers; ++id) {
    if (barrier(id).waiting.contains(rank)) return id;
  }
  return 0;
}

bool Block::is_complete(const Barrier& barrier) const {
  if (!barrier.arrived) return false;
  return barrier.arrived >= (barrier.meeting.expected ? barrier.meeting.expected : live_count_);
}

bool Block::waits_for_grid() const {
  return barriers_[0].meeting.kind == kGridBarrier && is_complete(barriers_[0]);
}

void Block::complete(Barrier& barrier) {
  if (barrier.meeting.kind == kGridBarrier) {
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

int Block::meet(Thread& self, int index, Meeting meeting, int value) {
  check_stack(self);
  end_if_abandoned(self);
  if (index == 0 && meeting.expected > live_count_) report_absence(self, meeting, live_count_);
  Barrier& barrier = barriers_[static_cast<std::size_t>(index)];
  const void* cell = sync_cell(static_cast<unsigned>(index));
  happens_before(cell);
  if (weak) stores_.meet_block(place_of(self));
  join(barrier, self, meeting, value, index == 0 ? 1 : threads_it_stands_for(self));
  if (is_complete(barrier)) {
    complete(barrier);
    if (must_end(self)) end(self);
  } else {
    barrier.waiting.add(self.rank);
    wait(self, meeting.kind, 0);
  }
  happens_after(cell);
  return barrier.result;
}

// As meet() at the block's own barrier, in a run that is not watched (exec::enter_whole_block).
bool Block::meet_and_hold(Thread& self, Meeting meeting) {
  check_stack(self);
  end_if_abandoned(self);
  if (meeting.expected > live_count_) report_absence(self, meeting, live_count_);
  Barrier& barrier = barriers_[0];
  join(barrier, self, meeting, 0);
  if (is_complete(barrier)) return true;
  barrier.waiting.add(self.rank);
  wait(self, meeting.kind, 0);
  return false;
}

// If the launch was abandoned meanwhile, all threads have been released to end.
void Block::let_block_go(Thread& self) {
  end_if_abandoned(self);
  if (!gives_up_) complete(barriers_[0]);
}

void Block::meet_grid(Thread& self) {
  if (!launch_->config.cooperative) {
    kernel_fault(self,
                 "sync_grid in a launch that is not cooperative: set LaunchConfig::cooperative");
  }
  happens_before(&launch_->grid_barrier);
  meet(self, 0, {.kind = kGridBarrier}, 0);
  happens_after(&launch_->grid_barrier);
}

}  // namespace chime::simt
