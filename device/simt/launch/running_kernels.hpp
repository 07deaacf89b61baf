// What the kernels of this process are doing: for whoever ends it, and wants to know why it did not
// end by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "chime/device/simt/threads/thread.hpp"

namespace chime::simt {

// Of some threads of one kernel.
struct Activity {
  enum class Kind {
    kMeets,     // waits at a barrier or in a collective, whose name is `at`
    kWaits,     // polls memory for what `wait` says
    kRuns,      // computes, or polls in a way of the program's own
    kNotBegun,  // its turn has not come yet
  };
  Kind kind;
  const char* at = nullptr;
  LongWait wait;  // of the thread below

  std::uint64_t threads = 0;      // how many
  exec::uint3 thread{}, block{};  // one of them
  bool has_turn = false;          // that one: it runs now
};

struct RunningKernel {
  const void* launch;  // tells it from others; not to be followed
  const char* name;
  int pe;  // whose host thread launched it; -1: none's
  exec::dim3 grid, block;
  std::uint64_t blocks, blocks_ended;
  std::uint64_t running_ns;
  std::vector<Activity> activities;  // of the threads of resident blocks
};

// Looks at running threads without stopping them: what it says of them may be a moment old.
std::vector<RunningKernel> running_kernels();

}  // namespace chime::simt
