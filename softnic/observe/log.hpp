// Writes text to stderr by the raw system call: the softnic lies below libc's open and write.
#pragma once

#include "settings.hpp"

namespace softnic {

[[gnu::format(printf, 1, 2)]] void print(const char* format, ...);

inline bool logs(int level) { return settings().log >= level; }

#define SOFTNIC_LOG_AT(level, ...)                             \
  do {                                                         \
    if (::softnic::logs(level)) ::softnic::print(__VA_ARGS__); \
  } while (0)

}  // namespace softnic
