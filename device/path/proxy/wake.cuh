// Ends the proxy's sleep, by host threads: a kernel cannot, and its first request waits for the
// sleep's end. While the proxy is awake that costs an atomic and no call of the system.
#ifndef CHIME_DEVICE_PATH_PROXY_WAKE_CUH_
#define CHIME_DEVICE_PATH_PROXY_WAKE_CUH_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/device/exec/exec.cuh"

namespace chime::fifo {

// By who has written a request. Poster and proxy each store and then look at what the other has
// stored, and a store may still be on its way when its thread looks. So both update one word: this
// exchange is either before the one by which the proxy says that it goes to sleep, which acquires
// the request and finds it (Progress::rest, proxy/progress.cpp), or behind it, and finds the 1.
CHIME_DEVICE void wake_proxy(const abi::Channel& fifo) {
  if (exec::in_kernel() || fifo.fifo.sleep == nullptr) return;
  abi::ProxySleep& sleep = *fifo.fifo.sleep;
  const std::uint32_t before = exec::atomic_exchange<exec::Order::kAcqRel, exec::Scope::kSystem>(
      &sleep.is_asleep, std::uint32_t{0});
  if (before != 0) exec::raise_event(sleep.event);
}

}  // namespace chime::fifo

#endif  // CHIME_DEVICE_PATH_PROXY_WAKE_CUH_
