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

// Linux, drivers/infiniband/core/umem.c: capable(CAP_IPC_LOCK), which asks the first user
// namespace. There uid_map is "0 0 4294967295" (user_namespaces(7)).
bool may_lock_more(const Root& root) {
  constexpr unsigned kIpcLock = 14;  // include/uapi/linux/capability.h
  const std::string status = root.text("/proc/self/status").value_or(""), row = "CapEff:";
  const auto at = status.find(row);
  if (at == std::string::npos) return false;
  const auto rights = std::strtoull(status.c_str() + at + row.size(), nullptr, 16);
  std::uint64_t inside = 1, outside = 1, count = 0;
  std::istringstream(root.text("/proc/self/uid_map").value_or("")) >> inside >> outside >> count;
  return (rights >> kIpcLock & 1) != 0 && inside == 0 && outside == 0 && count >= 0xffffffff;
}

}  // namespace chime::doctor
