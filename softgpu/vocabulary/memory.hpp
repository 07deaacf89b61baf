// Loads, stores, atomics and fences of translated code.
//
// Addresses are the host's, except those of shared memory, which are offsets in the block's window
// from kSharedBase on. *Watched* code (SOFTGPU_WATCHED) runs under a seed or in weak mode: its weak
// accesses are relaxed accesses of the executor, which may switch threads at each and delay stores.
//
// Orders and scopes go to the executor as PTX names them. This is also the place for effects that
// it does not model yet: late loads use the executor's ld, and each access here gives its scope.
#pragma once

#include "chime/device/simt/exec/exec_memory.hpp"
#include "softgpu/vocabulary/values.hpp"

#ifndef SOFTGPU_WATCHED
#define SOFTGPU_WATCHED 0
#endif

namespace softgpu {

namespace exec = chime::exec;
namespace simt = chime::simt;
using exec::Order;
using exec::Scope;

inline constexpr bool kWatched = SOFTGPU_WATCHED != 0;

template <class T>
SOFTGPU_INLINE T* at(u64 address) {
  return reinterpret_cast<T*>(address);
}
SOFTGPU_INLINE u64 address_of(const void* p) { return reinterpret_cast<u64>(p); }

// ---- Address windows -------------------------------------------------------------------------

// The host's address of a shared one. In watched code an access beyond the window ends the kernel.
template <std::size_t kBytes>
SOFTGPU_INLINE u64 shared_address(const Env& e, u64 address) {
  const u64 offset = static_cast<u32>(address) - kSharedBase;
  if (kWatched && offset + kBytes > e.shared_bytes)
    simt::trap("an access to shared memory beyond what the block has");
  return address_of(e.shared) + offset;
}
SOFTGPU_INLINE u64 shared_to_generic(const Env& e, u64 address) {
  return address_of(e.shared) + (address - kSharedBase);
}
SOFTGPU_INLINE u64 generic_to_shared(const Env& e, u64 address) {
  return address - address_of(e.shared) + kSharedBase;
}
SOFTGPU_INLINE bool is_shared(const Env& e, u64 address) {
  return address - address_of(e.shared) < e.shared_bytes;
}
// Whether it is on this thread's stack: between the caller and Env, which lies above all of its
// kernel's frames.
[[gnu::noinline]] inline bool is_local(const Env& e, u64 address) {
  const u64 here = address_of(__builtin_frame_address(0));
  return address - here < address_of(&e) - here;
}
SOFTGPU_INLINE bool is_global(const Env& e, u64 address) {
  return !is_shared(e, address) && !is_local(e, address);
}

// An address at which a GPU would fault, but x86 does not: no multiple of the accessed size.
[[gnu::cold, gnu::noinline]] inline void fault_of_alignment(const Env& e, const char* function,
                                                            u32 site, u64 address, u32 bytes) {
  e.services->misaligned(e, function, site, address, bytes);
  __builtin_unreachable();
}
template <std::size_t kBytes>
SOFTGPU_INLINE u64 aligned(const Env& e, const char* function, u32 site, u64 address) {
  if (address % kBytes != 0) [[unlikely]]
    fault_of_alignment(e, function, site, address, kBytes);
  return address;
}

// ---- Weak accesses ---------------------------------------------------------------------------

template <class T>
SOFTGPU_INLINE T plain_ld(u64 address) {
  T value;
  __builtin_memcpy(&value, at<T>(address), sizeof value);
  return value;
}
template <class T>
SOFTGPU_INLINE void plain_st(u64 address, T value) {
  __builtin_memcpy(at<T>(address), &value, sizeof value);
}

template <class T>
SOFTGPU_INLINE T weak_ld(const Env&, u64 address) {
  if constexpr (kWatched) return exec::ld<Order::kRelaxed, Scope::kBlock>(at<const T>(address));
  return plain_ld<T>(address);
}
// Only the thread itself uses its stack: a delayed store could reach a frame that no longer exists.
template <class T>
SOFTGPU_INLINE void weak_st(const Env& e, u64 address, T value) {
  if constexpr (kWatched) {
    if (!is_local(e, address))
      return exec::st<Order::kRelaxed, Scope::kBlock>(at<T>(address), value);
  }
  plain_st<T>(address, value);
}

// ---- Strong accesses -------------------------------------------------------------------------
// Each load may be a turn of a loop that waits.

template <Order kOrder, Scope kScope, class T>
SOFTGPU_INLINE T strong_ld(const Env& e, u64 address) {
  if constexpr (kOrder == Order::kRelaxed) simt::poll_tick(e.thread);  // else ld does it
  return exec::ld<kOrder, kScope>(at<const T>(address));
}
template <Order kOrder, Scope kScope, class T>
SOFTGPU_INLINE void strong_st(const Env& e, u64 address, T value) {
  if constexpr (kOrder == Order::kRelaxed) {
    if (kWatched && is_local(e, address)) return plain_st<T>(address, value);
  }
  exec::st<kOrder, kScope>(at<T>(address), value);
}
template <class T>
SOFTGPU_INLINE void mmio_st(const Env&, u64 address, T value) {
  if constexpr (sizeof(T) >= 4) {
    exec::st_mmio(at<T>(address), value);
  } else {
    exec::st<Order::kRelaxed, Scope::kSystem>(at<T>(address), value);
  }
}

// ---- Atomics ---------------------------------------------------------------------------------

enum class Atom { kAdd, kExch, kMin, kMax, kAnd, kOr, kXor, kInc, kDec };

// The memory's value after the operation.
template <Atom kAtom, class T>
SOFTGPU_INLINE T applied(T old, T value) {
  if constexpr (std::is_class_v<T>) {
    return T(static_cast<f32>(old) + static_cast<f32>(value));
  } else if constexpr (kAtom == Atom::kAdd) {
    return static_cast<T>(old + value);
  } else if constexpr (kAtom == Atom::kMin) {
    return value < old ? value : old;
  } else if constexpr (kAtom == Atom::kMax) {
    return old < value ? value : old;
  } else if constexpr (kAtom == Atom::kAnd) {
    return old & value;
  } else if constexpr (kAtom == Atom::kOr) {
    return old | value;
  } else if constexpr (kAtom == Atom::kXor) {
    return old ^ value;
  } else if constexpr (kAtom == Atom::kInc) {
    return old >= value ? T{0} : static_cast<T>(old + 1);
  } else if constexpr (kAtom == Atom::kDec) {
    return old == 0 || old > value ? value : static_cast<T>(old - 1);
  } else {
    return value;
  }
}

// An f32 addition in global memory treats subnormals as zeros of their sign.
SOFTGPU_INLINE f32 without_subnormal(f32 v) {
  return std::bit_cast<u32>(v) & 0x7f800000
             ? v
             : std::bit_cast<f32>(std::bit_cast<u32>(v) & 0x80000000);
}

template <Atom kAtom, Order kOrder, Scope kScope, class T>
SOFTGPU_INLINE T update(const Env& e, u64 address, T value) {
  T* const p = at<T>(address);
  if constexpr (kAtom == Atom::kAdd && std::is_same_v<T, f32>) {
    if (!is_shared(e, address)) {
      return exec::detail::atomic_update<kOrder, kScope>(p, [=](f32 old) {
        return without_subnormal(without_subnormal(old) + without_subnormal(value));
      });
    }
  }
  if constexpr (kAtom == Atom::kAdd && !std::is_class_v<T>) {
    return exec::atomic_add<kOrder, kScope>(p, value);
  } else if constexpr (kAtom == Atom::kExch) {
    return exec::atomic_exchange<kOrder, kScope>(p, value);
  } else if constexpr (kAtom == Atom::kMin) {
    return exec::atomic_min<kOrder, kScope>(p, value);
  } else if constexpr (kAtom == Atom::kMax) {
    return exec::atomic_max<kOrder, kScope>(p, value);
  } else if constexpr (kAtom == Atom::kAnd) {
    return exec::atomic_and<kOrder, kScope>(p, value);
  } else if constexpr (kAtom == Atom::kOr) {
    return exec::atomic_or<kOrder, kScope>(p, value);
  } else if constexpr (kAtom == Atom::kXor) {
    return exec::atomic_xor<kOrder, kScope>(p, value);
  } else {
    return exec::detail::atomic_update<kOrder, kScope>(
        p, [=](T old) { return applied<kAtom>(old, value); });
  }
}

template <class T>
SOFTGPU_INLINE bool same_bits(T a, T b) {
  return std::bit_cast<WordOf<sizeof(T)>>(a) == std::bit_cast<WordOf<sizeof(T)>>(b);
}

// An atomic that leaves memory unchanged may be polling. One that changes it makes progress, and a
// switch there would cost its core.
template <Atom kAtom, Order kOrder, Scope kScope, class T>
SOFTGPU_INLINE T atom(const Env& e, u64 address, T value) {
  const T old = update<kAtom, kOrder, kScope>(e, address, value);
  if (same_bits(applied<kAtom>(old, value), old)) simt::poll_tick(e.thread);
  return old;
}
// An operation without a result does not poll.
template <Atom kAtom, Order kOrder, Scope kScope, class T>
SOFTGPU_INLINE void red(const Env& e, u64 address, T value) {
  update<kAtom, kOrder, kScope>(e, address, value);
}
template <Order kOrder, Scope kScope, class T>
SOFTGPU_INLINE T compare_and_swap(const Env& e, u64 address, T expected, T desired) {
  const T old = exec::atomic_cas<kOrder, kScope>(at<T>(address), expected, desired);
  if (old != expected || expected == desired) simt::poll_tick(e.thread);
  return old;
}

// Keeps the compiler from reordering around it. It stands for a fence between proxies, which are
// one here.
SOFTGPU_INLINE void proxy_fence() { __asm__ volatile("" ::: "memory"); }

}  // namespace softgpu
