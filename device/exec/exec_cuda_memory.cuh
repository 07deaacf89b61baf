// exec under nvcc: loads, stores, atomics and fences by order and scope, on words of global memory.
// Included by exec_cuda.cuh alone.
#ifndef CHIME_DEVICE_EXEC_CUDA_MEMORY_CUH_
#define CHIME_DEVICE_EXEC_CUDA_MEMORY_CUH_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/device/exec/ptx_memory.cuh"

namespace chime::exec {

namespace detail {

// The unsigned integer of a value's size: what instructions carry.
template <std::size_t kBytes>
struct WordOf;
template <>
struct WordOf<1> : std::type_identity<std::uint8_t> {};
template <>
struct WordOf<2> : std::type_identity<std::uint16_t> {};
template <>
struct WordOf<4> : std::type_identity<std::uint32_t> {};
template <>
struct WordOf<8> : std::type_identity<std::uint64_t> {};
template <class T>
using Word = typename WordOf<sizeof(T)>::type;

template <class T>
CHIME_DEVICE Word<T> to_word(T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return __builtin_bit_cast(Word<T>, value);
}
template <class T>
CHIME_DEVICE Word<T>* word_pointer(T* p) {
  return reinterpret_cast<Word<T>*>(p);
}
template <class T>
CHIME_DEVICE const Word<T>* word_pointer(const T* p) {
  return reinterpret_cast<const Word<T>*>(p);
}

// A sequentially consistent access is a fence.sc followed by the strongest order PTX has for it.
template <Order kOrder, Scope kScope>
CHIME_DEVICE void fence_before() {
  if constexpr (kOrder == Order::kSeqCst) ptx::fence<Order::kSeqCst, kScope>();
}
template <Order kOrder>
inline constexpr Order kLoadOrder = kOrder == Order::kSeqCst ? Order::kAcquire : kOrder;
template <Order kOrder>
inline constexpr Order kStoreOrder = kOrder == Order::kSeqCst ? Order::kRelease : kOrder;
template <Order kOrder>
inline constexpr Order kUpdateOrder = kOrder == Order::kSeqCst ? Order::kAcqRel : kOrder;

// The operation on words of T's size and, where that makes a difference, of T's kind.
template <class T, class Op32, class Op64>
using BySize = std::conditional_t<sizeof(T) == 4, Op32, Op64>;
template <class T>
using Add = std::conditional_t<std::is_floating_point_v<T>, BySize<T, ptx::AddF32, ptx::AddF64>,
                               BySize<T, ptx::AddU32, ptx::AddU64>>;
template <class T>
using Min = std::conditional_t<std::is_signed_v<T>, BySize<T, ptx::MinS32, ptx::MinS64>,
                               BySize<T, ptx::MinU32, ptx::MinU64>>;
template <class T>
using Max = std::conditional_t<std::is_signed_v<T>, BySize<T, ptx::MaxS32, ptx::MaxS64>,
                               BySize<T, ptx::MaxU32, ptx::MaxU64>>;

template <class Op, Order kOrder, Scope kScope, class T>
CHIME_DEVICE T update(T* p, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 and 8 bytes");
  using OpWord = typename Op::Word;
  fence_before<kOrder, kScope>();
  return __builtin_bit_cast(
      T, Op::template atom<kUpdateOrder<kOrder>, kScope>(reinterpret_cast<OpWord*>(p),
                                                         __builtin_bit_cast(OpWord, value)));
}
template <class Op, Order kOrder, Scope kScope, class T>
CHIME_DEVICE void reduce(T* p, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 and 8 bytes");
  static_assert(kOrder == Order::kRelaxed || kOrder == Order::kRelease,
                "a reduction reads nothing that could be acquired");
  using OpWord = typename Op::Word;
  Op::template red<kOrder, kScope>(reinterpret_cast<OpWord*>(p), __builtin_bit_cast(OpWord, value));
}

}  // namespace detail

template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T ld(const T* p) {
  static_assert(kOrder != Order::kRelease && kOrder != Order::kAcqRel, "a load does not release");
  detail::fence_before<kOrder, kScope>();
  return __builtin_bit_cast(T,
                            ptx::ld<detail::kLoadOrder<kOrder>, kScope>(detail::word_pointer(p)));
}

template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void st(T* p, std::type_identity_t<T> value) {
  static_assert(kOrder != Order::kAcquire && kOrder != Order::kAcqRel, "a store does not acquire");
  detail::fence_before<kOrder, kScope>();
  ptx::st<detail::kStoreOrder<kOrder>, kScope>(detail::word_pointer(p), detail::to_word(value));
}

template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_add(T* p, std::type_identity_t<T> value) {
  return detail::update<detail::Add<T>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_exchange(T* p, std::type_identity_t<T> value) {
  return detail::update<detail::BySize<T, ptx::Exchange32, ptx::Exchange64>, kOrder, kScope>(p,
                                                                                             value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_and(T* p, std::type_identity_t<T> value) {
  return detail::update<detail::BySize<T, ptx::And32, ptx::And64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_or(T* p, std::type_identity_t<T> value) {
  return detail::update<detail::BySize<T, ptx::Or32, ptx::Or64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_xor(T* p, std::type_identity_t<T> value) {
  return detail::update<detail::BySize<T, ptx::Xor32, ptx::Xor64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_min(T* p, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "the hardware compares integers");
  return detail::update<detail::Min<T>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_max(T* p, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "the hardware compares integers");
  return detail::update<detail::Max<T>, kOrder, kScope>(p, value);
}

// Compares bits: +0 and -0 are different values.
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE T atomic_cas(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics work on 4 and 8 bytes");
  detail::fence_before<kOrder, kScope>();
  return __builtin_bit_cast(
      T, ptx::cas<detail::kUpdateOrder<kOrder>, kScope>(
             detail::word_pointer(p), detail::to_word(expected), detail::to_word(desired)));
}

template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void red_add(T* p, std::type_identity_t<T> value) {
  detail::reduce<detail::Add<T>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void red_and(T* p, std::type_identity_t<T> value) {
  detail::reduce<detail::BySize<T, ptx::And32, ptx::And64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void red_or(T* p, std::type_identity_t<T> value) {
  detail::reduce<detail::BySize<T, ptx::Or32, ptx::Or64>, kOrder, kScope>(p, value);
}
template <Order kOrder = Order::kRelaxed, Scope kScope = Scope::kSystem, class T>
CHIME_DEVICE void red_xor(T* p, std::type_identity_t<T> value) {
  detail::reduce<detail::BySize<T, ptx::Xor32, ptx::Xor64>, kOrder, kScope>(p, value);
}

// Exactly as strong as asked for where the GPU has such a fence (sm_90), else acq_rel.
template <Order kOrder = Order::kSeqCst, Scope kScope = Scope::kSystem>
CHIME_DEVICE void fence() {
  ptx::fence<kOrder, kScope>();
}

// For TSan alone: no GPU makes a store before it knows that the program makes it.
CHIME_DEVICE void stores_follow_loads() {}

// A relaxed store of 8 bytes to a device's register, as one access.
CHIME_DEVICE void st_mmio(std::uint64_t* p, std::uint64_t value) { ptx::st_mmio(p, value); }

CHIME_DEVICE Vec16 ld16(const void* p) { return ptx::ld_16(p); }
CHIME_DEVICE void st16(void* p, Vec16 value) { ptx::st_16(p, value); }
template <class T>
CHIME_DEVICE T ld_settled(const T* p) {
  static_assert((sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) >= sizeof(T));
  if constexpr (sizeof(T) == 16) {
    return __builtin_bit_cast(T, ptx::ld_settled_16(p));
  } else if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(T, ptx::ld_settled_8(p));
  } else {
    return __builtin_bit_cast(T, ptx::ld_settled_4(p));
  }
}
// The CPU's memcpy is faster than a loop of words; a GPU has none.
CHIME_DEVICE constexpr bool memcpy_is_relaxed() { return false; }

// Whether many stores of one word cost less than a fence: a GPU's threads store at once.
CHIME_DEVICE constexpr bool stores_are_cheap() { return true; }

// From here on the variable's value is read from memory; registers keep no copy.
template <class T>
CHIME_DEVICE void keep_in_memory(T& variable) {
  ptx::forget(&variable);
}

// The CPU device checks that a source is ordered before a group reads it.
CHIME_DEVICE void warp_reads(const void*, std::size_t, std::size_t, std::size_t) {}
CHIME_DEVICE void block_reads(const void*, std::size_t, std::size_t, std::size_t) {}

// On a GPU a load finds such an address.
CHIME_DEVICE constexpr bool is_no_memory(const void*) { return false; }

// Copies the word first: from a cast of the volatile word itself clang makes a load that is not
// volatile.
template <class T>
CHIME_DEVICE T ld_volatile(const T* p) {
  const detail::Word<T> word =
      *static_cast<const volatile detail::Word<T>*>(detail::word_pointer(p));
  return __builtin_bit_cast(T, word);
}
template <class T>
CHIME_DEVICE void st_volatile(T* p, std::type_identity_t<T> value) {
  *static_cast<volatile detail::Word<T>*>(detail::word_pointer(p)) = detail::to_word(value);
}

}  // namespace chime::exec

#endif  // CHIME_DEVICE_EXEC_CUDA_MEMORY_CUH_
