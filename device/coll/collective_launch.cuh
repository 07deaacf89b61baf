// Launching kernels in which PEs wait for each other: all blocks must run at once, so the launch is
// cooperative.
#ifndef CHIME_DEVICE_COLLECTIVE_LAUNCH_CUH_
#define CHIME_DEVICE_COLLECTIVE_LAUNCH_CUH_

#include <cstddef>
#include <utility>

#include "chime/chime.h"
#include "chime/device/exec/exec.cuh"

namespace chime {

// Launches `kernel(arguments...)` so that its threads may wait for those of other PEs. Collective;
// PEs may use different grids. Returns a chimex_status: CHIMEX_ERR_LAUNCH when the grid does not
// fit the device at once.
template <class... P, class... A>
exec::LaunchStatus collective_launch(exec::LaunchConfig config, void (*kernel)(P...),
                                     A&&... arguments) {
  config.cooperative = true;
  return exec::launch(config, kernel, std::forward<A>(arguments)...);
}

}  // namespace chime

// The same for a kernel known by its address (on the CPU device one named by
// CHIME_REGISTER_KERNEL).
inline int chimex_collective_launch(const void* kernel, chime::exec::dim3 grid,
                                    chime::exec::dim3 block, void** arguments,
                                    std::size_t shared_bytes, chimex_stream_t stream) {
  chime::exec::LaunchConfig config;
  config.grid = grid;
  config.block = block;
  config.shared_bytes = shared_bytes;
  config.stream = static_cast<chime::exec::Stream>(stream);
  config.cooperative = true;
  return chime::exec::launch_erased(config, kernel, arguments);
}

#endif  // CHIME_DEVICE_COLLECTIVE_LAUNCH_CUH_
