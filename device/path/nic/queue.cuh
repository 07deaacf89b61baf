// A queue pair as posters and pollers use it: which one leads to a peer, and its counters in the
// scope of those who share it. device/path/README.md has the protocol.
#ifndef CHIME_DEVICE_PATH_NIC_QUEUE_CUH_
#define CHIME_DEVICE_PATH_NIC_QUEUE_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/nic.h"
#include "chime/abi/state.h"
#include "chime/device/exec.cuh"

namespace chime::nic {

using abi::NicQueue;
using exec::Order;
using exec::Scope;

// A PE and one of its ordering domains. Passed by value: two registers. The operation that works in
// it is not among them, so what is recorded here names none: kernels took 4 to 10 registers more.
struct Domain {
  const Context& ctx;
  const abi::NicContext& nic;
};

// Which of the queues to a peer the calling thread uses: always the same one, so that its
// operations stay in order. Blocks share the queues out.
CHIME_DEVICE unsigned slot_of_caller(const abi::NicContext& nic) {
  return exec::in_kernel() ? exec::block_rank() & (nic.slots - 1) : 0;
}

CHIME_DEVICE NicQueue& queue_to(Domain domain, int pe) {
  return domain.nic.queues[abi::nic_queue_index(domain.nic.slots, slot_of_caller(domain.nic),
                                                static_cast<std::uint32_t>(pe))];
}

CHIME_DEVICE std::uint64_t index_of(Domain domain, const NicQueue& queue) {
  return static_cast<std::uint64_t>(&queue - domain.nic.queues);
}

// ---- Counters -----------------------------------------------------------------------------------

CHIME_DEVICE bool is_gpu_wide(const NicQueue& queue) {
  return queue.sharing == abi::NicSharing::kGpu;
}

template <Order kOrder, class T>
CHIME_DEVICE T load(const NicQueue& queue, const T& word) {
  return is_gpu_wide(queue) ? exec::ld<kOrder, Scope::kDevice>(&word)
                            : exec::ld<kOrder, Scope::kBlock>(&word);
}

template <Order kOrder, class T>
CHIME_DEVICE void store(const NicQueue& queue, T& word, T value) {
  if (is_gpu_wide(queue)) {
    exec::st<kOrder, Scope::kDevice>(&word, value);
  } else {
    exec::st<kOrder, Scope::kBlock>(&word, value);
  }
}

// Takes `n` WQEBBs; returns the index of the first.
CHIME_DEVICE std::uint64_t take(NicQueue& queue, std::uint64_t n) {
  std::uint64_t* const resv = &queue.producer.resv;
  if (is_gpu_wide(queue)) return exec::atomic_add<Order::kRelaxed, Scope::kDevice>(resv, n);
  if (queue.sharing == abi::NicSharing::kBlock) {
    return exec::atomic_add<Order::kRelaxed, Scope::kBlock>(resv, n);
  }
  const std::uint64_t base = exec::ld<Order::kRelaxed, Scope::kBlock>(resv);
  exec::st<Order::kRelaxed, Scope::kBlock>(resv, base + n);
  return base;
}

// What the poster stored, and what it has seen of others' stores, comes before what it stores
// after: for the NIC, and for who takes the next turn.
CHIME_DEVICE void fence_for_nic(const NicQueue& queue) {
  if (queue.flags & abi::kNicAllOnGpu) {
    exec::fence<Order::kAcqRel, Scope::kDevice>();
  } else {
    exec::fence<Order::kAcqRel, Scope::kSystem>();
  }
}

CHIME_DEVICE std::uint64_t end_of(std::uint64_t ready) { return ready & abi::kNicIndexBits; }

// What `done` reaches when everything below `ready` is complete.
CHIME_DEVICE std::uint64_t target_of(std::uint64_t ready) {
  return end_of(ready) - ((ready & abi::kNicWide) != 0 ? 1 : 0);
}

// ---- Status -------------------------------------------------------------------------------------

CHIME_DEVICE std::uint32_t status_of(const NicQueue& queue) {
  return exec::ld<Order::kRelaxed, Scope::kSystem>(&queue.consumer.status);
}
CHIME_DEVICE bool is_stopped(const NicQueue& queue) { return status_of(queue) != 0; }

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_QUEUE_CUH_
