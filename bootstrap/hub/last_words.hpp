// How a thread of the bootstrap ends this process: the job is over, and nobody is there to throw
// to.
#pragma once

#include <unistd.h>

#include <string>

namespace chime::bootstrap {

// Says why on stderr and ends the process. By one write and without stdio, whose locks and buffers
// may be in any state: other threads run on. A stderr that led to a launcher that is gone may end
// the process (SIGPIPE) before the exit does.
[[noreturn]] inline void end_process(int code, const std::string& why) {
  const std::string line = "chime: " + why + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(code);
}

}  // namespace chime::bootstrap
