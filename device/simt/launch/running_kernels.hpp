// The activity of this process's kernels, for reports of a process that does not end.
#pragma once

#include <cstdint>
#include <vector>

#include "chime/device/simt/threads/thread.hpp"

namespace chime::simt {

// The activity of some threads of one kernel.
struct Activity {
  enum class Kind {
    kMeets,     // waits at a barrier or in a collective; its name is `at`
    kWaits,     // polls memory; `wait` names the event
    kRuns,      // computes, or polls with code of the program's own
    kNotBegun,  // its turn has not come yet
  };
  Kind kind;
  const char* at = nullptr;
  LongWait wait;  // of the thread below

  std::uint64_t threads = 0;      // how many
  exec::uint3 thread{}, block{};  // one of them
  bool has_turn = false;          // that one runs now
};

struct RunningKernel {
  const void* launch;  // identifies the launch; not to be dereferenced
  const char* name;
  int pe;  // the PE of the host thread that launched it; -1: none
  exec::dim3 grid, block;
  std::uint64_t blocks, blocks_ended;
  std::uint64_t running_ns;
  std::vector<Activity> activities;  // of the threads of resident blocks
};

// Looks at running threads without stopping them: its answer may be a moment old.
std::vector<RunningKernel> running_kernels();

}  // namespace chime::simt
