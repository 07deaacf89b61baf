#include "bootstrap/process_stat.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "net/descriptor.hpp"

namespace chime::bootstrap {
namespace {

// Not by a stream: a process that ends between open and read makes a file buffer throw.
std::string stat_line_of(pid_t pid) {
  const net::Descriptor file(
      open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  char line[1024];
  const auto got = file ? read(file.get(), line, sizeof line) : -1;
  return got > 0 ? std::string(line, static_cast<std::size_t>(got)) : std::string();
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
  return fields ? std::optional(stat) : std::nullopt;
}

}  // namespace chime::bootstrap
