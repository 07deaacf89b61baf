// Memory operations of threads that are watched: seeded schedules, weak mode (weak_memory.md) and
// TSan. Inline code of device/simt/exec/exec_memory.hpp calls these; a thread of a plain run never
// does. Threads of the host call what TSan learns.
#pragma once

#include <cstddef>

#include "chime/device/simt/exec/export.hpp"

namespace chime::simt {

// How far a release reaches.
enum class Reach { kBlock, kBeyondBlock };

// A scheduling point before a load.
CHIME_SIMT_EXPORT void before_load();

// Adds to `bytes` that were loaded from `address` the buffered stores that the calling thread must
// see.
CHIME_SIMT_EXPORT void forward_buffered(const void* address, void* value, std::size_t bytes);

// True if weak mode keeps this store; false if the caller must make it. If the store releases, its
// thread's earlier stores have then reached memory.
CHIME_SIMT_EXPORT bool store_is_buffered(void* address, const void* value, std::size_t bytes,
                                         bool releases, Reach reach);

// Atomics happen at once. So this first writes the stores that they release, and older stores to
// the same bytes.
CHIME_SIMT_EXPORT void before_atomic(const void* address, std::size_t bytes, bool releases,
                                     Reach reach);

CHIME_SIMT_EXPORT void fence(bool releases, bool acquires, Reach reach);

// The calling thread's warp or block is about to read the source together: `count` elements of
// `bytes`, `stride` bytes apart. Weak mode reports a store of a member to it that no meeting
// ordered before (group_sources.hpp).
CHIME_SIMT_EXPORT void warp_reads(const void* source, std::size_t bytes, std::size_t stride,
                                  std::size_t count);
CHIME_SIMT_EXPORT void block_reads(const void* source, std::size_t bytes, std::size_t stride,
                                   std::size_t count);

// Informs TSan about fences (fence_model.hpp): called before each store and after each load; and
// where the loads so far decide about the stores that follow.
#if CHIME_SIMT_TSAN || defined(CHIME_TSAN)
CHIME_SIMT_EXPORT void tsan_before_store(const void* address);
CHIME_SIMT_EXPORT void tsan_after_load(const void* address);
CHIME_SIMT_EXPORT void tsan_loads_decide();
CHIME_SIMT_EXPORT void tsan_fence(bool releases, bool acquires);
#else
inline void tsan_before_store(const void*) {}
inline void tsan_after_load(const void*) {}
inline void tsan_loads_decide() {}
inline void tsan_fence(bool /*releases*/, bool /*acquires*/) {}
#endif

}  // namespace chime::simt
