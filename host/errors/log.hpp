// Lines for the user on stderr, each written by one call so that lines of several PEs do not mix.
//
// A cause is logged once, where it is first seen; code that only passes an error on stays silent.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace chime::host {

enum class LogLevel { kOff = 0, kError = 1, kWarn = 2, kInfo = 3, kDebug = 4 };

// Which lines are printed; set once from CHIME_LOG.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);

// Prints "chime: PE 2: <text>"; without the PE while `pe` is negative.
void log_line(LogLevel level, int pe, std::string_view text);

template <class... Args>
void log(LogLevel level, int pe, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, pe, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace chime::host
