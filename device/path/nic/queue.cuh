// A queue pair as posters and pollers use it: its counters in the scope of those who share it.
// device/path/README.md has the protocol.
#ifndef CHIME_DEVICE_PATH_NIC_QUEUE_CUH_
#define CHIME_DEVICE_PATH_NIC_QUEUE_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/nic.h"
#include "chime/abi/state.h"
#include "chime/device/exec.cuh"

namespace chime::nic {

using abi::NicQueue;
using abi::NicSharing;
using exec::Order;
using exec::Scope;

// What a post needs of its queue, read once: every store to the queue might change it, as far as a
// compiler knows.
struct QueueView {
  std::byte* sq;
  std::uint32_t* record;
  std::uint64_t* doorbell;
  std::uint32_t qpn_be;
  std::uint32_t depth;
  std::uint32_t flags;
  NicSharing sharing;
};
CHIME_DEVICE QueueView view_of(const NicQueue& queue) {
  return {queue.sq,    queue.record, queue.doorbell, queue.qpn_be,
          queue.depth, queue.flags,  queue.sharing};
}

// ---- Counters -----------------------------------------------------------------------------------
// Loads and updates are device-wide for every queue; what a block's own queue saves is the scope of
// its atomic and of its hand-over.

template <Order kOrder, class T>
CHIME_DEVICE T load(const T& word) {
  return exec::ld<kOrder, Scope::kDevice>(&word);
}

// Takes `n` WQEBBs; returns the index of the first.
CHIME_DEVICE std::uint64_t take(NicQueue& queue, NicSharing sharing, std::uint64_t n) {
  std::uint64_t* const resv = &queue.producer.resv;
  if (sharing == NicSharing::kGpu) {
    return exec::atomic_add<Order::kRelaxed, Scope::kDevice>(resv, n);
  }
  if (sharing == NicSharing::kBlock) {
    return exec::atomic_add<Order::kRelaxed, Scope::kBlock>(resv, n);
  }
  const std::uint64_t base = exec::ld<Order::kRelaxed, Scope::kBlock>(resv);
  exec::st<Order::kRelaxed, Scope::kBlock>(resv, base + n);
  return base;
}

// What the poster stored comes before what it stores after (kRelease), what it has seen of others'
// stores before what it does after (kAcquire): for the NIC, and for who takes the next turn.
template <Order kOrder>
CHIME_DEVICE void fence_for_nic(std::uint32_t flags) {
  if ((flags & abi::kNicAllOnGpu) != 0) {
    exec::fence<kOrder, Scope::kDevice>();
  } else {
    exec::fence<kOrder, Scope::kSystem>();
  }
}

// The index in `ready` or `done`, without their upper bits.
CHIME_DEVICE std::uint64_t end_of(std::uint64_t word) { return word & abi::kNicIndexBits; }

// What `done` reaches when everything below `ready` is complete.
CHIME_DEVICE std::uint64_t target_of(std::uint64_t ready) {
  return end_of(ready) - ((ready & abi::kNicWide) != 0 ? 1 : 0);
}

// ---- Out of use ---------------------------------------------------------------------------------

CHIME_DEVICE bool is_stopped(const NicQueue& queue) {
  return (load<Order::kRelaxed>(queue.consumer.done) & abi::kNicStopped) != 0;
}

// Whether everything below `target` is complete, as `done` says. It stands still when the queue is
// stopped: what was complete before is so.
CHIME_DEVICE bool reaches(std::uint64_t done, std::uint64_t target) {
  return end_of(done) >= target;
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_QUEUE_CUH_
