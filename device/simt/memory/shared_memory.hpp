// Static shared memory: every CHIME_SHARED_VAR has an offset in an arena, of which each resident
// block has one.
#pragma once

#include <cstddef>

#include "chime/device/simt/exec/export.hpp"
#include "chime/device/simt/threads/thread.hpp"

namespace chime::simt {

// Reserves room in every block's arena for the life of the process; returns its offset.
CHIME_SIMT_EXPORT std::size_t reserve_shared(std::size_t bytes, std::size_t alignment);
std::size_t shared_arena_bytes();

// `Tag` is a type local to the declaration, so that each declaration has an offset of its own,
// fixed before main.
template <class Tag, class T>
struct SharedSlot {
  static inline const std::size_t offset = reserve_shared(sizeof(T), alignof(T));
  static T& get() { return *reinterpret_cast<T*>(current()->block->shared + offset); }
};

}  // namespace chime::simt
