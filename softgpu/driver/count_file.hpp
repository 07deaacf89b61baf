// CHIME_SOFTGPU_COUNT: a file that gets a line of JSON for each launch, with the counts of the
// instructions that its threads executed.
#pragma once

#include <memory>
#include <string>

#include "softgpu/driver/objects.hpp"
#include "softgpu/launch_counts.hpp"

namespace softgpu::driver {

// Whether the variable names a file.
bool launches_are_counted();

// The data of a launch, for the time when it has ended.
struct CountedLaunch {
  std::shared_ptr<Function> function;
  unsigned long long blocks, threads;
  std::shared_ptr<LaunchCounts> counts;
};

// Writes its line at once: several processes may share the file. A failed write is reported on
// stderr, once.
void append(const CountedLaunch& launch);

}  // namespace softgpu::driver
