// What the user may decide about the proxy. Filled by host/settings/env.cpp, whose table explains
// each.
#pragma once

#include <optional>

namespace chime {

struct ProxyOptions {
  unsigned fifos = 4;      // of kernels: a power of two, at most 64
  unsigned depth = 1024;   // slots of a FIFO: a power of two
  unsigned batch = 32;     // requests from one FIFO before the next is visited
  std::optional<int> cpu;  // none: any
};

}  // namespace chime
