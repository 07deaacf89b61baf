// This PE's memory in work requests: addresses and keys of registered memory, and slots that stand
// in for other memory.
//
// All pointers are addresses for device code. Names that end in _be are big-endian in memory, as
// work requests carry them.
#ifndef CHIME_ABI_NIC_MEMORY_H_
#define CHIME_ABI_NIC_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "chime/cxx20.h"

namespace chime::abi {

// A range of this PE's memory that the NIC may read and write. Owner: the host.
struct NicBuffer {
  std::uint64_t begin, end;  // [begin, end) as device code addresses it
  std::uint64_t nic;         // address of `begin` in work requests
  std::uint32_t lkey_be;
  std::uint32_t reserved;
};
static_assert(sizeof(NicBuffer) == 32);

// Registered buffers besides the heap, sorted by `begin`, without overlap. Owner: the host.
struct NicBufferTable {
  std::uint64_t count;
  NicBuffer* buffers;  // [kNicMostBuffers]
};
inline constexpr std::uint32_t kNicMostBuffers = 1024;

// In the device's memory. `tables[generation % 2]` is in use. Registering and unregistering fill
// the other table, and then put it to use by adding 1 to `generation` (release; pairs with the
// acquire in device/path/local_memory.cuh). So a table changes only after another one has been in
// use in between: what a reader found is valid if `generation` has not changed.
struct NicBuffers {
  std::uint64_t generation;
  std::uint64_t reserved;
  NicBufferTable tables[2];
};
static_assert(sizeof(NicBuffers) == 48 && offsetof(NicBuffers, tables) == 16);

// Memory that stands in for memory that is not registered: `slots` pieces of `slot_bytes`, in
// pairs. Transfers to a peer use one slot of each pair (pairs.h). Each slot has a word (words.h):
// taken by compare-and-swap, freed or left with release. After these words follows the number of
// times that a slot was taken.
struct NicStaging {
  std::byte* memory;
  std::uint64_t nic;
  std::uint64_t* busy;  // [slots + 1]
  std::uint32_t lkey_be;
  std::uint32_t slots;       // a power of two, at least 2
  std::uint32_t slot_bytes;  // a multiple of 128
  std::uint32_t reserved;
};
static_assert(sizeof(NicStaging) == 40);

// Part of a Context, so that kernels have it in constant memory. Owner: the host.
struct NicMemory {
  const NicBuffers* buffers = nullptr;
  NicBuffer heap = {};      // this PE's own
  NicStaging staging = {};  // of the contexts of one pool
};
static_assert(sizeof(NicMemory) == 80 && offsetof(NicMemory, heap) == 8);

}  // namespace chime::abi

#endif  // CHIME_ABI_NIC_MEMORY_H_
