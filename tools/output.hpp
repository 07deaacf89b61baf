// A tool's output may be lost: the disk is full, or nobody may write there.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace chime::tools {

// The exit code of a tool that cannot do what it is asked for.
inline constexpr int kCannot = 2;

// `exit_code` if all that the tool has printed is written; else kCannot, and standard error says
// so.
inline int exit_code_after_printing(const char* tool, int exit_code) {
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0;
  if (is_flushed && std::ferror(stdout) == 0) return exit_code;
  std::fprintf(stderr, "%s: the output cannot be written%s%s\n", tool, errno != 0 ? ": " : "",
               errno != 0 ? std::strerror(errno) : "");
  return kCannot;
}

}  // namespace chime::tools
