#include "host/errors/log.hpp"

#include <unistd.h>

#include <atomic>
#include <string>

namespace chime::host {
namespace {

std::atomic<LogLevel> level_of_process{LogLevel::kWarn};

}  // namespace

void set_log_level(LogLevel level) { level_of_process.store(level, std::memory_order_relaxed); }

bool log_enabled(LogLevel level) {
  return level != LogLevel::kOff && level <= level_of_process.load(std::memory_order_relaxed);
}

void log_line(LogLevel level, int pe, std::string_view text) {
  if (!log_enabled(level)) return;
  std::string line = "chime: ";
  if (pe >= 0) line += fmt::format("PE {}: ", pe);
  line.append(text);
  line += '\n';
  // One write, no stdio: this also runs while the process is being torn down.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace chime::host
