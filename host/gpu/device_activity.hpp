// Nothing is allocated, mapped or registered while a kernel runs: the CUDA driver may let such a
// call wait for a kernel that waits for this PE. So everything that a kernel could need is made at
// init, and every such call of libchime passes here: the tables of the CUDA driver's functions
// (gpu/cuda/driver.hpp) and of rdma-core's (transport/mlx5/nic/rdma_core.hpp) mark theirs, the CPU
// device names its own. In a checked job (CHIME_CHECK=1) a call that breaks the rule ends the
// process and says which call and which kernel.
//
// Known are the kernels of the calling thread's PE (of all, where it has none): on the CPU device
// all of them; on a GPU those launched by exec::launch and chimex_collective_launch into streams
// that are not captured, and not what the program launches by other means.
#pragma once

#include <string>

namespace chime::host::device_activity {

// From now on calls are checked.
void check();

// Before a call that allocates, maps or registers.
void allocates(const char* call);

// The name of a kernel that runs; empty if none is known to.
std::string running_kernel();

// While it lives, calls of this thread are none that the driver could let wait.
class Harmless {
 public:
  Harmless();
  ~Harmless();
  Harmless(const Harmless&) = delete;
  Harmless& operator=(const Harmless&) = delete;
};

// A library's function that allocates.
template <class Function>
struct Allocating {
  Function function = nullptr;
  const char* name = "";

  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    allocates(name);
    return function(arguments...);
  }
};

}  // namespace chime::host::device_activity
