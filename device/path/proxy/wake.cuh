// Ends the proxy's sleep, from host threads: a kernel cannot, so its first request waits for the
// sleep's end. While the proxy is awake this costs an atomic and no system call.
#ifndef CHIME_DEVICE_PATH_PROXY_WAKE_CUH_
#define CHIME_DEVICE_PATH_PROXY_WAKE_CUH_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/device/exec/exec.cuh"

namespace chime::fifo {

// Called by the thread that has written a request. Poster and proxy each store and then look at
// what the other has stored, and a store may still be in transit when its thread looks. So both
// update one word. This exchange comes before or after the one by which the proxy announces its
// sleep. Before: the proxy's exchange acquires the request, and the proxy finds it (Progress::rest,
// proxy/progress.cpp). After: this exchange finds the 1.
CHIME_DEVICE void wake_proxy(const abi::Channel& fifo) {
  if (exec::in_kernel() || fifo.fifo.sleep == nullptr) return;
  abi::ProxySleep& sleep = *fifo.fifo.sleep;
  const std::uint32_t before = exec::atomic_exchange<exec::Order::kAcqRel, exec::Scope::kSystem>(
      &sleep.is_asleep, std::uint32_t{0});
  if (before != 0) exec::raise_event(sleep.event);
}

}  // namespace chime::fifo

#endif  // CHIME_DEVICE_PATH_PROXY_WAKE_CUH_
