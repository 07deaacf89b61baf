// The PE of the caller, for functions that take no Context: the names of the specifications.
#ifndef CHIME_DEVICE_STATE_CUH_
#define CHIME_DEVICE_STATE_CUH_

#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"

namespace chime {

// The calling host thread's PE (chime.h).
const Context& host_context();

namespace detail {

// Operations that need a filled Context check it: need_filled().
CHIME_DEVICE const Context& kernel_context() {
  const Context* const launched = exec::launch_context();
  if (exec::may_run_for_nobody() && launched == nullptr) trap_unfilled();
  return *launched;
}

}  // namespace detail

// In a kernel: the PE that launched it. On a GPU a process has one such PE for each device. Where
// PEs that are threads share a device, kernels take their Context as an argument, and operations by
// this one trap. On the host: the calling thread's PE.
CHIME_HOST_DEVICE const Context& self() {
  CHIME_IF_DEVICE(return detail::kernel_context(), return host_context());
}

}  // namespace chime

#endif  // CHIME_DEVICE_STATE_CUH_
