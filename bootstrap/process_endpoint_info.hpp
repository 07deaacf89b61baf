// By what the PEs of a machine know each other's processes.
#pragma once

#include <cstdint>

#include "net/secure/secret.hpp"

namespace chime::bootstrap {

// Identifies a PE's process among all processes of this machine, and of others. Plain bytes: it is
// sent to other PEs.
struct ProcessEndpointInfo {
  std::int64_t pid = 0;
  std::uint64_t start_time = 0;
  char space[128] = "";  // kernel and process-id space (place.hpp)
  char host[65] = "";
  net::Token nonce =
      {};  // drawn by the process: where process-id spaces differ, the rest may be equal
};

ProcessEndpointInfo endpoint_info_of_this_process();

// Whether the endpoint info's process is there, which is of this process-id space.
bool is_alive(const ProcessEndpointInfo& endpoint_info);

// Whether the caller is a thread of the endpoint info's process.
bool is_of_this_process(const ProcessEndpointInfo& endpoint_info);

}  // namespace chime::bootstrap
