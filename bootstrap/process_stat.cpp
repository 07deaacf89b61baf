#include "bootstrap/process_stat.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "net/socket/descriptor.hpp"

namespace chime::bootstrap {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// Not by a stream: a process that ends between open and read makes a file buffer throw.
std::string text_of(const std::string& path) {
  const net::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[1024];
  const auto got = file ? read(file.get(), text, sizeof text) : -1;
  return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : std::string();
}

std::string stat_line_of(pid_t pid) { return text_of("/proc/" + std::to_string(pid) + "/stat"); }

std::string namespace_of_this_process(const char* kind) {
  char name[64] = "";
  const auto length = readlink(("/proc/self/ns/" + std::string(kind)).c_str(), name, sizeof name);
  return length > 0 ? std::string(name, static_cast<std::size_t>(length)) : std::string();
}

// The offsets in /proc are those of the namespace that children get. It is another one in a process
// that has called unshare() and not entered it: its own offset nobody tells.
std::optional<std::int64_t> boot_offset_of_this_process_ns() {
  if (namespace_of_this_process("time") != namespace_of_this_process("time_for_children"))
    return std::nullopt;
  return boot_offset_ns(text_of("/proc/self/timens_offsets"));
}

// The kernel moves what it says of any process by the reader's time namespace, and then rounds it
// down to clock ticks.
std::uint64_t since_boot_of_machine(std::uint64_t ticks_here) {
  const auto offset_ns = boot_offset_of_this_process_ns();
  if (!offset_ns) return 0;
  const std::int64_t tick_ns = kNsPerSecond / sysconf(_SC_CLK_TCK);
  return static_cast<std::uint64_t>((static_cast<std::int64_t>(ticks_here) * tick_ns - *offset_ns) /
                                    tick_ns);
}

}  // namespace

// Fields as in proc(5): 4 is the parent, 22 the start time. The name, field 2, may hold anything,
// even ") ", but nothing behind it does.
std::optional<ProcessStat> stat_of_process(pid_t pid) {
  const auto line = stat_line_of(pid);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  ProcessStat stat{};
  std::string skipped;
  fields >> skipped >> stat.parent;
  for (int field = 5; field < 22; field++) fields >> skipped;
  fields >> stat.start_time;
  if (!fields) return std::nullopt;
  stat.start_time = since_boot_of_machine(stat.start_time);
  return stat;
}

// Offsets that are no whole number of ticks leave one tick between two readers.
bool may_be_one_start(std::uint64_t one, std::uint64_t other) {
  return one == 0 || other == 0 || std::max(one, other) - std::min(one, other) <= 1;
}

// Lines of a clock's name, seconds and nanoseconds.
std::int64_t boot_offset_ns(const std::string& timens_offsets) {
  std::istringstream lines(timens_offsets);
  std::string clock;
  std::int64_t seconds = 0;
  std::int64_t ns = 0;
  while (lines >> clock >> seconds >> ns)
    if (clock == "boottime") return seconds * kNsPerSecond + ns;
  return 0;
}

}  // namespace chime::bootstrap
