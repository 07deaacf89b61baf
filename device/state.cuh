// Whose PE this is, for functions that take no Context: the names of the specifications.
#ifndef CHIME_DEVICE_STATE_CUH_
#define CHIME_DEVICE_STATE_CUH_

#include "chime/abi/context.h"
#include "chime/device/exec.cuh"

namespace chime {

// The calling host thread's PE (chime.h).
const Context& host_context();

namespace detail {

CHIME_DEVICE const Context& kernel_context() {
  const Context* const launched = exec::launch_context();
  if (launched == nullptr || launched->abi_version == 0) {
    exec::trap(
        "chime: this kernel's state is not filled. It is after init, where a GPU was chosen before "
        "(cudaSetDevice); else after the first call that allocates or meets (malloc, barrier_all), "
        "or after chimex_init_device. (Of threads that are PEs on one GPU, kernels take their "
        "Context as an argument.)");
  }
  return *launched;
}

}  // namespace detail

// In a kernel: the PE that launched it. On a GPU a process has one such PE a device: where PEs that
// are threads share one, kernels take their Context as an argument, and this traps. On the host:
// the calling thread's PE.
CHIME_HOST_DEVICE const Context& self() {
  CHIME_IF_DEVICE(return detail::kernel_context(), return host_context());
}

}  // namespace chime

#endif  // CHIME_DEVICE_STATE_CUH_
