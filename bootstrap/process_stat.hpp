// Facts that /proc gives about a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace chime::bootstrap {

struct ProcessStat {
  pid_t parent;
  // Clock ticks since the machine's boot; with the process id, it names a process for ever. 0 where
  // it cannot be known.
  std::uint64_t start_time;
};

// Empty if there is no such process (any more).
std::optional<ProcessStat> stat_of_process(pid_t pid);

// Whether two start times, which processes of different time namespaces may have read, can be of
// one process. An unknown one can be any.
bool may_be_one_start(std::uint64_t one, std::uint64_t other);

// How far this process's time namespace moves the time since boot, by the text of
// /proc/self/timens_offsets. Empty text: a kernel without such namespaces.
std::int64_t boot_offset_ns(const std::string& timens_offsets);

}  // namespace chime::bootstrap
