// What /proc tells of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace chime::bootstrap {

struct ProcessStat {
  pid_t parent;
  std::uint64_t
      start_time;  // clock ticks since boot; with the process id, it names a process for ever
};

// Empty if there is no such process (any more).
std::optional<ProcessStat> stat_of_process(pid_t pid);

}  // namespace chime::bootstrap
