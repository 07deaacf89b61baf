// Symmetric addresses: a pointer's offset in this PE's heap, which is the same in every PE's heap.
#ifndef CHIME_DEVICE_SYMMETRIC_CUH_
#define CHIME_DEVICE_SYMMETRIC_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"

namespace chime {

CHIME_DEVICE bool pe_exists(const Context& ctx, int pe) {
  return static_cast<unsigned>(pe) < static_cast<unsigned>(ctx.pe.n_pes);
}

// Distance of `p` from the start of this PE's heap; at least ctx.pe.heap_bytes if it is not inside.
CHIME_DEVICE std::uint64_t heap_offset(const Context& ctx, const void* p) {
  return reinterpret_cast<std::uint64_t>(p) - reinterpret_cast<std::uint64_t>(ctx.pe.heap);
}

// Where a PE whose heap is mapped at `heap` has symmetric memory.
template <class T>
CHIME_DEVICE T* at_peer(const Context& ctx, std::byte* heap, T* symmetric) {
  return reinterpret_cast<T*>(heap + heap_offset(ctx, symmetric));
}

CHIME_DEVICE bool is_in_heap(const Context& ctx, const void* p, std::size_t bytes) {
  const std::uint64_t offset = heap_offset(ctx, p);
  return offset < ctx.pe.heap_bytes && bytes <= ctx.pe.heap_bytes - offset;
}

// `alignment`: a power of two.
CHIME_DEVICE bool is_aligned(const void* p, std::size_t alignment) {
  return (reinterpret_cast<std::uint64_t>(p) & (alignment - 1)) == 0;
}

}  // namespace chime

#endif  // CHIME_DEVICE_SYMMETRIC_CUH_
