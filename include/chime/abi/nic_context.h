// What a PE's Context says of the NIC: where queue pairs, keys and memory are (nic.h), in the words
// that kernels then have in constant memory.
#ifndef CHIME_ABI_NIC_CONTEXT_H_
#define CHIME_ABI_NIC_CONTEXT_H_

#include <cstddef>
#include <cstdint>

#include "chime/cxx20.h"

namespace chime::abi {

struct NicQueue;
struct NicPeer;
struct NicFault;
struct NicBuffers;
struct NicWatch;

// A range of this PE's memory that the NIC may read and write. Owner: the host.
struct NicBuffer {
  std::uint64_t begin, end;  // [begin, end) as device code addresses it
  std::uint64_t nic;         // address of `begin` in work requests
  std::uint32_t lkey_be;
  std::uint32_t reserved;
};
static_assert(sizeof(NicBuffer) == 32);

// Memory that stands in for what is not registered: `slots` pieces of `slot_bytes`, each with a
// word (taken by compare-and-swap, freed and left by a release). Behind these words stands how
// often a slot was taken.
struct NicStaging {
  std::byte* memory;
  std::uint64_t nic;
  std::uint64_t* busy;  // [slots + 1]
  std::uint32_t lkey_be;
  std::uint32_t slots;
  std::uint32_t slot_bytes;  // a multiple of 128
  std::uint32_t reserved;
};
static_assert(sizeof(NicStaging) == 40);

// One ordering domain: K queue pairs to each peer, which blocks share by rank. An explicit context
// has one. Owner: the host. Part of a PE's Context, so that kernels have it in constant memory.
struct NicContext {
  NicQueue* queues = nullptr;  // [n_pes * slots], by nic_queue_index; null: there is no NIC
  const std::uint32_t* route = nullptr;  // [n_pes] 1 + index of a PE's first queue; 0: none leads
  const NicPeer* peers = nullptr;        // [n_pes]
  NicFault* faults = nullptr;            // one per queue
  std::uint64_t* touched = nullptr;      // a bit per queue: set by its first poster, never cleared
  const NicBuffers* buffers = nullptr;
  NicWatch* watch = nullptr;
  NicBuffer heap = {};  // this PE's own
  NicStaging staging = {};
  std::uint32_t slots = 0;  // K: a power of two, at most 64
  std::uint32_t n_pes = 0;
  std::uint32_t id = 0;  // 0: the default context
  std::uint32_t reserved = 0;
};
static_assert(sizeof(NicContext) == 144 && offsetof(NicContext, heap) == 56);

}  // namespace chime::abi

#endif  // CHIME_ABI_NIC_CONTEXT_H_
