// The counts of the proxy threads of running PEs (proxy/counts/counts_file.hpp).
#pragma once

#include <sys/types.h>

#include <optional>

namespace chime::info {

// Prints a paragraph for each PE of `process`, or of all processes that this user may look at. The
// tool's exit code: 1 if there is none, which it says.
int print_proxies(std::optional<pid_t> process);

}  // namespace chime::info
