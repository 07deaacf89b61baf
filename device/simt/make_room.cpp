#include "chime/device/simt/make_room.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>

namespace chime::simt {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr unsigned kHopefulTurns = 64, kHopefulTurnsAlone = 256;
constexpr std::chrono::nanoseconds kEmptyYield{500};     // a system call; two switches take longer
constexpr std::chrono::microseconds kLongestYield{500};  // a scheduler's turn is longer
constexpr milliseconds kFirstCrowding{10}, kLongestCrowding{1000};

// What an OS thread knows of its core.
struct Core {
  unsigned hopeful_turns = kHopefulTurns;
  Clock::time_point crowded_until{};       // somebody computes here
  milliseconds crowding = kFirstCrowding;  // for how long to believe it, the next time
};
thread_local Core core;

void nap() {
  const timespec length{0, 20'000};  // and the kernel's slack, 50 us
  nanosleep(&length, nullptr);
}

}  // namespace

// Each crowding that follows another is believed for twice as long: finding out costs a turn.
void make_room() {
  const auto before = Clock::now();
  if (before < core.crowded_until) return nap();
  sched_yield();
  const auto after = Clock::now();
  core.hopeful_turns = after - before < kEmptyYield ? kHopefulTurnsAlone : kHopefulTurns;
  if (after - before > kLongestYield) {
    core.crowded_until = after + core.crowding;
    core.crowding = std::min(core.crowding * 2, kLongestCrowding);
  } else if (after > core.crowded_until + kLongestCrowding) {
    core.crowding = kFirstCrowding;
  }
}

unsigned hopeful_turns() { return core.hopeful_turns; }

}  // namespace chime::simt
