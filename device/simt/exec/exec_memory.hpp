// exec on the CPU: loads, stores, atomics and fences by order and scope.
//
// On a host thread each is the plain atomic of its order. In a kernel a load is a poll tick, a
// seeded schedule may switch threads at each operation, and weak mode buffers stores
// (device/simt/memory/weak_memory.hpp). TSan learns the order that fences make, those of host
// threads, too (device/simt/memory/fence_model.cpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chime/device/simt/memory/operation_hook.hpp"
#include "chime/device/simt/memory/weak_memory.hpp"
#include "chime/device/simt/threads/thread.hpp"

namespace chime::exec {

enum class Order { kRelaxed, kAcquire, kRelease, kAcqRel, kSeqCst };
enum class Scope { kBlock, kDevice, kSystem };

struct alignas(16) Vec16 {
  std::uint32_t w[4];
};

namespace detail {

constexpr int builtin_order(Order order) {
  switch (order) {
    case Order::kRelaxed:
      return __ATOMIC_RELAXED;
    case Order::kAcquire:
      return __ATOMIC_ACQUIRE;
    case Order::kRelease:
      return __ATOMIC_RELEASE;
    case Order::kAcqRel:
      return __ATOMIC_ACQ_REL;
    case Order::kSeqCst:
      return __ATOMIC_SEQ_CST;
  }
  return __ATOMIC_SEQ_CST;
}

constexpr bool acquires(Order order) {
  return order == Order::kAcquire || order == Order::kAcqRel || order == Order::kSeqCst;
}
constexpr bool releases(Order order) {
  return order == Order::kRelease || order == Order::kAcqRel || order == Order::kSeqCst;
}

// The order of the load half of a compare-and-swap that failed.
constexpr Order failure_order(Order order) {
  if (order == Order::kAcqRel) return Order::kAcquire;
  return order == Order::kRelease ? Order::kRelaxed : order;
}

constexpr simt::Reach reach(Scope scope) {
  return scope == Scope::kBlock ? simt::Reach::kBlock : simt::Reach::kBeyondBlock;
}

template <class T>
concept Word = std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

// Reinterprets between a value and the unsigned word of its size.
template <class To, class From>
To bit_copy(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(static_cast<void*>(&to), &from, sizeof(To));
  return to;
}

template <class T>
Bits<T>* word_at(T* p) {
  return reinterpret_cast<Bits<T>*>(const_cast<std::remove_cv_t<T>*>(p));
}
template <class T>
const Bits<T>* word_at(const T* p) {
  return reinterpret_cast<const Bits<T>*>(p);
}

template <Order O, class T>
T load(const T* p) {
  return bit_copy<T>(__atomic_load_n(word_at(p), builtin_order(O)));
}
template <Order O, class T>
void store(T* p, T value) {
  __atomic_store_n(word_at(p), bit_copy<Bits<T>>(value), builtin_order(O));
}

// The thread, if its memory operations are more than the plain instruction; else null.
inline simt::ThreadState* watched() {
  simt::ThreadState* self = simt::current();
#if CHIME_SIMT_TSAN
  return self;
#else
  return self && self->block->seeded ? self : nullptr;
#endif
}

}  // namespace detail

// ---- Loads and stores -----------------------------------------------------------------------

template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
T ld(const T* p) {
  static_assert(detail::Word<T>);
  static_assert(O == Order::kRelaxed || O == Order::kAcquire || O == Order::kSeqCst);
  simt::operation_hook(simt::Operation::kLoad, p, sizeof(T));
  simt::ThreadState* self = simt::current();
  if (self && O != Order::kRelaxed) simt::poll_tick(self);
  const bool is_watched = detail::watched() != nullptr;
  if (is_watched) simt::before_load();
  T value = detail::load<O>(p);
  simt::tsan_after_load(p);
  if (is_watched) simt::forward_buffered(p, &value, sizeof(T));
  return value;
}

namespace detail {
template <Order O, Scope S, class T>
void store_in_order(T* p, T value) {
  if (watched() && simt::store_is_buffered(p, &value, sizeof(T), releases(O), reach(S))) return;
  simt::tsan_before_store(p);
  store<O>(p, value);
}
}  // namespace detail

template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
void st(T* p, std::type_identity_t<T> value) {
  static_assert(detail::Word<T>);
  static_assert(O == Order::kRelaxed || O == Order::kRelease || O == Order::kSeqCst);
  simt::operation_hook(simt::Operation::kStore, p, sizeof(T));
  detail::store_in_order<O, S>(p, value);
}

// A relaxed store of 4 or 8 bytes to a device's register, as one access.
template <class T>
void st_mmio(T* p, std::type_identity_t<T> value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  simt::operation_hook(simt::Operation::kMmioStore, p, sizeof(T));
  detail::store_in_order<Order::kRelaxed, Scope::kSystem>(p, value);
}

namespace detail {
struct Vec16Halves {
  std::uint64_t word[2];
};
}  // namespace detail

// Only GPUs need it, where registers are scarce.
template <class T>
void keep_in_memory(T&) {}

// Whether memcpy may replace a run of relaxed loads or stores: not where each one is watched.
inline bool memcpy_is_relaxed() { return detail::watched() == nullptr; }

// Whether many stores of one word cost less than a fence.
constexpr bool stores_are_cheap() { return false; }

// The calling thread's warp or block, whose members have just come to an operation, reads `count`
// elements of `bytes`, `stride` bytes apart. Weak mode checks whether a member wrote them and has
// not met the others since.
inline void warp_reads(const void* source, std::size_t bytes, std::size_t stride,
                       std::size_t count) {
  if (detail::watched()) simt::warp_reads(source, bytes, stride, count);
}
inline void block_reads(const void* source, std::size_t bytes, std::size_t stride,
                        std::size_t count) {
  if (detail::watched()) simt::block_reads(source, bytes, stride, count);
}

// Null, or near it: no program has the first page.
inline bool is_no_memory(const void* p) { return reinterpret_cast<std::uintptr_t>(p) < 4096; }

// Loads 4, 8 or 16 bytes that no thread writes while others may read them.
template <class T>
T ld_settled(const T* p) {
  static_assert((sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) >= sizeof(T));
  simt::operation_hook(simt::Operation::kLoad, p, sizeof(T));
  if constexpr (sizeof(T) == 16) {
    return *p;
  } else {  // the route to a PE that dies is taken back
    T value;
    __atomic_load(p, &value, __ATOMIC_RELAXED);
    return value;
  }
}

// Relaxed, 16-byte aligned. It makes two atomic accesses of 8 bytes: other observers may see them
// in any order.
inline Vec16 ld16(const void* p) {
  Vec16 value;
  if (!detail::watched()) {
    std::memcpy(&value, __builtin_assume_aligned(p, 16), sizeof value);
    return value;
  }
  const std::uint64_t* words = static_cast<const std::uint64_t*>(p);
  return detail::bit_copy<Vec16>(detail::Vec16Halves{{ld(words), ld(words + 1)}});
}

inline void st16(void* p, Vec16 value) {
  simt::operation_hook(simt::Operation::kStore16, p, sizeof value);
  const auto halves = detail::bit_copy<detail::Vec16Halves>(value);
  std::uint64_t* words = static_cast<std::uint64_t*>(p);
#if !CHIME_SIMT_TSAN
  if (!detail::watched()) {
    std::memcpy(__builtin_assume_aligned(p, 16), &value, sizeof value);
    return;
  }
#endif
  for (int i = 0; i < 2; ++i) {
    detail::store_in_order<Order::kRelaxed, Scope::kSystem>(words + i, halves.word[i]);
  }
}

// A relaxed system-scope access that is never merged or removed; a load is a poll tick.
template <class T>
T ld_volatile(const T* p) {
  if (simt::ThreadState* self = simt::current()) simt::poll_tick(self);
  return ld<Order::kRelaxed, Scope::kSystem>(p);
}
template <class T>
void st_volatile(T* p, std::type_identity_t<T> value) {
  st<Order::kRelaxed, Scope::kSystem>(p, value);
}

// Orders this thread's accesses before it against those after it, for observers within the scope.
template <Order O = Order::kSeqCst, Scope S = Scope::kSystem>
void fence() {
  simt::operation_hook(simt::Operation::kFence, nullptr, 0);
  if (detail::watched()) {
    simt::fence(detail::releases(O), detail::acquires(O), detail::reach(S));
  } else {
    simt::tsan_fence(detail::releases(O), detail::acquires(O));
    __atomic_thread_fence(detail::builtin_order(O));
  }
}

// Whether this thread stores what it does from here on depends on relaxed loads before: these
// stores come after the loads, and loads need not. No machine needs an instruction for that.
inline void stores_follow_loads() { simt::tsan_loads_decide(); }

// ---- Atomics --------------------------------------------------------------------------------

namespace detail {

// Announces an atomic to the executor before it happens.
template <Order O, Scope S, class T>
void before_atomic(const T* p) {
  simt::operation_hook(simt::Operation::kAtomic, p, sizeof(T));
  if (watched()) simt::before_atomic(p, sizeof(T), releases(O), reach(S));
  simt::tsan_before_store(p);
  simt::tsan_after_load(p);
}

// `next(old)` by compare-and-swap, for operations without an instruction.
template <Order O, Scope S, class T, class Next>
T atomic_update(T* p, Next next) {
  before_atomic<O, S>(p);
  Bits<T> seen = __atomic_load_n(word_at(p), __ATOMIC_RELAXED);
  for (;;) {
    const Bits<T> wanted = bit_copy<Bits<T>>(static_cast<T>(next(bit_copy<T>(seen))));
    if (__atomic_compare_exchange_n(word_at(p), &seen, wanted, true, builtin_order(O),
                                    __ATOMIC_RELAXED)) {
      return bit_copy<T>(seen);
    }
  }
}

}  // namespace detail

// Each returns the value before it.
template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
T atomic_add(T* p, std::type_identity_t<T> value) {
  if constexpr (std::is_integral_v<T>) {
    detail::before_atomic<O, S>(p);
    return static_cast<T>(__atomic_fetch_add(p, value, detail::builtin_order(O)));
  } else {
    return detail::atomic_update<O, S>(p, [=](T old) { return old + value; });
  }
}

template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
T atomic_exchange(T* p, std::type_identity_t<T> value) {
  static_assert(detail::Word<T>);
  detail::before_atomic<O, S>(p);
  return detail::bit_copy<T>(__atomic_exchange_n(
      detail::word_at(p), detail::bit_copy<detail::Bits<T>>(value), detail::builtin_order(O)));
}

template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
T atomic_cas(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  static_assert(detail::Word<T>);
  detail::before_atomic<O, S>(p);
  detail::Bits<T> seen = detail::bit_copy<detail::Bits<T>>(expected);
  __atomic_compare_exchange_n(detail::word_at(p), &seen, detail::bit_copy<detail::Bits<T>>(desired),
                              false, detail::builtin_order(O),
                              detail::builtin_order(detail::failure_order(O)));
  return detail::bit_copy<T>(seen);
}

template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
T atomic_min(T* p, std::type_identity_t<T> value) {
  return detail::atomic_update<O, S>(p, [=](T old) { return value < old ? value : old; });
}
template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
T atomic_max(T* p, std::type_identity_t<T> value) {
  return detail::atomic_update<O, S>(p, [=](T old) { return old < value ? value : old; });
}
template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
T atomic_and(T* p, std::type_identity_t<T> value) {
  detail::before_atomic<O, S>(p);
  return static_cast<T>(__atomic_fetch_and(p, value, detail::builtin_order(O)));
}
template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
T atomic_or(T* p, std::type_identity_t<T> value) {
  detail::before_atomic<O, S>(p);
  return static_cast<T>(__atomic_fetch_or(p, value, detail::builtin_order(O)));
}
template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
T atomic_xor(T* p, std::type_identity_t<T> value) {
  detail::before_atomic<O, S>(p);
  return static_cast<T>(__atomic_fetch_xor(p, value, detail::builtin_order(O)));
}

// The same without the old value.
template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
void red_add(T* p, std::type_identity_t<T> value) {
  atomic_add<O, S>(p, value);
}
template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
void red_and(T* p, std::type_identity_t<T> value) {
  atomic_and<O, S>(p, value);
}
template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
void red_or(T* p, std::type_identity_t<T> value) {
  atomic_or<O, S>(p, value);
}
template <Order O = Order::kRelaxed, Scope S = Scope::kSystem, class T>
void red_xor(T* p, std::type_identity_t<T> value) {
  atomic_xor<O, S>(p, value);
}

}  // namespace chime::exec
