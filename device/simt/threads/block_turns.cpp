// The order of threads: where a thread lets others run, and what a block does that only waits.
#include "chime/device/simt/threads/block_turns.hpp"

#include <time.h>

#include "chime/device/simt/threads/make_room.hpp"

namespace chime::simt {

void Block::start_fiber(Thread& thread) {
  constexpr std::size_t kColours = 32, kColourBytes = 128;
  fiber_prepare(thread.fiber, stacks_.get(), thread.rank % kColours * kColourBytes, &thread_main,
                &thread);
}

// A random order has no rounds: as many switches as threads can run count as one.
bool Block::whole_turn_passed(const Thread& self, const Thread& next) {
  if (!seeded) return next.rank <= self.rank;
  if (++given_way_ < runnable_.count(threads)) return false;
  given_way_ = 0;
  return true;
}

void Block::yield(Thread& self) {
  give_way(self);
  end_if_abandoned(self);
}

// The thread did not ask for this switch: it does not end here, in the middle of its work.
void Block::preempt(Thread& self) { give_way(self); }

void Block::give_way(Thread& self) {
  check_stack(self);
  if (weak) leak(self);
  Thread* next = pick_next(self);
  if (whole_turn_passed(self, *next)) idle_turn();
  if (next != &self) switch_to(self, *next);
}

// No thread ends here (end_if_abandoned): it finishes work of several operations, such as
// publishing an error record.
void Block::scheduling_point(Thread& self) {
  constexpr unsigned kSwitchOneIn = 4;
  if (!seeded) return;
  if (weak) leak(self);
  if (!random_.one_in(kSwitchOneIn)) return;
  check_stack(self);
  Thread* next = pick_next(self);
  if (next != &self) switch_to(self, *next);
}

// Lets at most one store reach memory. It may belong to a thread that waits: no other event would
// write it, and another block may wait for it.
void Block::leak(Thread& self) {
  const unsigned waiting = withholding_.next_from(random_.below(threads), threads);
  const bool is_its_turn = waiting != ThreadSet::kNone && random_.one_in(2);
  stores_.leak(place_of(is_its_turn ? threads_[waiting] : self));
}

// Called after a round in which all threads only waited. First polls on without pauses
// (make_room.hpp), then makes room for other blocks, then for other processes, and sleeps when it
// takes long.
void Block::idle_turn() {
  constexpr unsigned kAwake = 20'000;
  ++idle_turns;
  if (idle_turns % 16 == 0) grow(*launch_);
  if (idle_turns <= hopeful_turns()) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else if (idle_turns <= kAwake) {
    make_room();
  } else {
    const timespec nap{0, 50'000};
    nanosleep(&nap, nullptr);
  }
}

}  // namespace chime::simt
