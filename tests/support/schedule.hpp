// Schedules of kernel threads: the same body under many seeds, in weak-memory mode.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/environment.hpp"
#include "support/world.hpp"

namespace chime::tests {

// Sets how this process's next kernels are scheduled, until the end of the scope. All PEs of a
// World use the same. A GPU has its own schedule and weak memory, and ignores this.
class Schedule {
 public:
  Schedule(std::uint64_t seed, bool weak);
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
};

// Runs `body(seed)` on this PE for CHIME_TEST_SEEDS seeds, kernels in weak-memory mode. Stops at
// the first seed that fails, and prints how to repeat it.
template <class Body>
void for_each_seed(Pe& pe, Body&& body) {
  const int first = first_seed(), count = seed_count();
  for (int seed = first; seed < first + count; ++seed) {
    pe.barrier();  // no kernel of another PE thread runs while the schedule changes
    Schedule schedule(static_cast<std::uint64_t>(seed), true);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": repeat with CHIME_TEST_FIRST_SEED=" +
                 std::to_string(seed) + " CHIME_TEST_SEEDS=1");
    pe.barrier();
    body(seed);
    if (testing::Test::HasFailure()) throw PeStopped("seed " + std::to_string(seed) + " fails");
    pe.barrier();
  }
}

// Runs `body` twice: in program order, and in weak-memory mode with one seeded schedule.
template <class Body>
void for_each_memory_mode(Pe& pe, Body&& body) {
  body();
  pe.barrier();
  {
    SCOPED_TRACE("weak memory, seed 7");
    Schedule weak(7, true);
    pe.barrier();
    body();
    pe.barrier();
  }
  pe.barrier();
}

}  // namespace chime::tests
