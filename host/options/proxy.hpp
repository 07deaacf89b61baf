// The user's choices for the proxy. host/settings/env.cpp fills them, and its table explains each.
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
