// Code that counts its instructions: each one announces itself before it, and each memory address
// goes through here. All threads of a launch add to the same numbers.
#pragma once

#include "softgpu/vocabulary/memory.hpp"

namespace softgpu {

SOFTGPU_INLINE void count(const Env& e, u32 form, Column column) {
  __atomic_fetch_add(e.counts + form * kColumns + static_cast<u32>(column), 1, __ATOMIC_RELAXED);
}

// For a space that is only in one kind of memory.
SOFTGPU_INLINE u64 counted(const Env& e, u32 form, Column column, u64 address) {
  count(e, form, column);
  return address;
}

// For a global or a generic address.
inline u64 counted_where_it_is(const Env& e, u32 form, u64 address) {
  const Column column = is_shared(e, address)  ? Column::kShared
                        : is_local(e, address) ? Column::kLocal
                                               : e.services->memory_at(*e.module, address);
  return counted(e, form, column, address);
}

}  // namespace softgpu
