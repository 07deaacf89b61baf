#include "chime/device/simt/threads/make_room.hpp"

#include <sched.h>
#include <time.h>

#include "chime/device/simt/threads/crowding.hpp"

namespace chime::simt {

namespace {

thread_local Crowding crowding;  // of this OS thread's core

void nap() {
  const timespec length{0, 20'000};  // and the kernel's slack, 50 us
  nanosleep(&length, nullptr);
}

}  // namespace

void make_room() {
  const auto began = Crowding::Clock::now();
  if (crowding.is_believed(began)) return nap();
  sched_yield();
  crowding.yielded(began, Crowding::Clock::now());
}

unsigned hopeful_turns() { return crowding.hopeful_turns(); }

}  // namespace chime::simt
