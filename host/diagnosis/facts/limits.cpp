#include "host/diagnosis/facts/limits.hpp"

#include <cstdlib>
#include <sstream>

namespace chime::doctor {

// A row: "Max open files   1024   4096   files".
std::optional<std::uint64_t> soft_limit(const std::string& row, const Root& root) {
  std::istringstream lines(root.text("/proc/self/limits").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(row)) continue;
    std::string value;
    std::istringstream(line.substr(row.size())) >> value;
    return value == "unlimited" ? kUnlimited : std::strtoull(value.c_str(), nullptr, 10);
  }
  return std::nullopt;
}

}  // namespace chime::doctor
