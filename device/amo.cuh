// Atomic memory operations on one word of a PE: of 4 or 8 bytes, atomic with every other Chime
// atomic on that word, and with no order towards other operations (relaxed).
//
// All work on the unsigned word of the type's size: addition and the bitwise operations have the
// same bits for signed types, and floating-point types are only fetched, set and swapped.
#ifndef CHIME_DEVICE_AMO_CUH_
#define CHIME_DEVICE_AMO_CUH_

#include <type_traits>

#include "chime/abi/state.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/p2p.cuh"
#include "chime/device/peer.cuh"
#include "chime/device/unmapped.cuh"

namespace chime {
namespace detail {

inline constexpr exec::Order kRelaxed = exec::Order::kRelaxed;
inline constexpr exec::Scope kSystem = exec::Scope::kSystem;

template <class T>
inline constexpr bool kIsAmoWord = sizeof(T) == 4 || sizeof(T) == 8;

// Runs `update` on the mapped word, or has the owner's NIC do `atomic`.
template <Operation kOperation, class T, class Atomic, class Update>
CHIME_DEVICE void amo(const Context& ctx, T* dst, int pe, const Atomic& atomic, Update update) {
  static_assert(kIsAmoWord<T>, "atomics exist for 4 and 8 bytes");
  if (T* mapped = amo_ptr(ctx, dst, pe)) {
    update(p2p::word_ptr(mapped));
    return;
  }
  unmapped::post_amo(ctx, p2p::word_ptr(dst), atomic, pe, kOperation);
}

// The same; returns the word before. Zero if there is no way to it and CHIME_ON_ERROR=return.
template <Operation kOperation, class T, class Atomic, class Update>
CHIME_DEVICE T fetch_amo(const Context& ctx, T* dst, int pe, const Atomic& atomic, Update update) {
  static_assert(kIsAmoWord<T>, "atomics exist for 4 and 8 bytes");
  if (T* mapped = amo_ptr(ctx, dst, pe)) {
    return p2p::from_word<T>(update(p2p::word_ptr(mapped)));
  }
  return p2p::from_word<T>(unmapped::fetch_amo(ctx, p2p::word_ptr(dst), atomic, pe, kOperation));
}

// For add and inc.
template <Operation kOperation, class T>
CHIME_DEVICE void amo_add(const Context& ctx, T* dst, T value, int pe) {
  const auto bits = p2p::to_word(value);
  amo<kOperation>(ctx, dst, pe, nic::add_request(bits), [&](auto* word) {
    exec::red_add<detail::kRelaxed, detail::kSystem>(word, bits);
  });
}

template <Operation kOperation, class T>
CHIME_DEVICE T amo_fetch_add(const Context& ctx, T* dst, T value, int pe) {
  const auto bits = p2p::to_word(value);
  return fetch_amo<kOperation>(ctx, dst, pe, nic::add_request(bits), [&](auto* word) {
    return exec::atomic_add<detail::kRelaxed, detail::kSystem>(word, bits);
  });
}

}  // namespace detail

// ---- Without a result ---------------------------------------------------------------------------

template <class T>
CHIME_DEVICE void atomic_set(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto bits = p2p::to_word(value);
  detail::amo<Operation::kAtomicSet>(ctx, dst, pe, nic::swap_request(bits), [&](auto* word) {
    exec::st<detail::kRelaxed, detail::kSystem>(word, bits);
  });
}

template <class T>
CHIME_DEVICE void atomic_add(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  detail::amo_add<Operation::kAtomicAdd>(ctx, dst, value, pe);
}

template <class T>
CHIME_DEVICE void atomic_and(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto bits = p2p::to_word(value);
  detail::amo<Operation::kAtomicAnd>(ctx, dst, pe, nic::and_request(bits), [&](auto* word) {
    exec::red_and<detail::kRelaxed, detail::kSystem>(word, bits);
  });
}

template <class T>
CHIME_DEVICE void atomic_or(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto bits = p2p::to_word(value);
  detail::amo<Operation::kAtomicOr>(ctx, dst, pe, nic::or_request(bits), [&](auto* word) {
    exec::red_or<detail::kRelaxed, detail::kSystem>(word, bits);
  });
}

template <class T>
CHIME_DEVICE void atomic_xor(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto bits = p2p::to_word(value);
  detail::amo<Operation::kAtomicXor>(ctx, dst, pe, nic::xor_request(bits), [&](auto* word) {
    exec::red_xor<detail::kRelaxed, detail::kSystem>(word, bits);
  });
}

template <class T>
CHIME_DEVICE void atomic_inc(const Context& ctx, T* dst, int pe) {
  detail::amo_add<Operation::kAtomicInc>(ctx, dst, T{1}, pe);
}

// ---- With the old value as result ---------------------------------------------------------------

template <class T>
CHIME_DEVICE T atomic_fetch(const Context& ctx, const T* src, int pe) {
  return detail::fetch_amo<Operation::kAtomicFetch>(
      ctx, const_cast<T*>(src), pe, nic::add_request(detail::Word<sizeof(T)>{0}),
      [&](auto* word) { return exec::ld<detail::kRelaxed, detail::kSystem>(word); });
}

template <class T>
CHIME_DEVICE T atomic_fetch_add(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  return detail::amo_fetch_add<Operation::kAtomicFetchAdd>(ctx, dst, value, pe);
}

template <class T>
CHIME_DEVICE T atomic_fetch_and(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto bits = p2p::to_word(value);
  return detail::fetch_amo<Operation::kAtomicFetchAnd>(
      ctx, dst, pe, nic::and_request(bits),
      [&](auto* word) { return exec::atomic_and<detail::kRelaxed, detail::kSystem>(word, bits); });
}

template <class T>
CHIME_DEVICE T atomic_fetch_or(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto bits = p2p::to_word(value);
  return detail::fetch_amo<Operation::kAtomicFetchOr>(
      ctx, dst, pe, nic::or_request(bits),
      [&](auto* word) { return exec::atomic_or<detail::kRelaxed, detail::kSystem>(word, bits); });
}

template <class T>
CHIME_DEVICE T atomic_fetch_xor(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto bits = p2p::to_word(value);
  return detail::fetch_amo<Operation::kAtomicFetchXor>(
      ctx, dst, pe, nic::xor_request(bits),
      [&](auto* word) { return exec::atomic_xor<detail::kRelaxed, detail::kSystem>(word, bits); });
}

template <class T>
CHIME_DEVICE T atomic_swap(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto bits = p2p::to_word(value);
  return detail::fetch_amo<Operation::kAtomicSwap>(
      ctx, dst, pe, nic::swap_request(bits), [&](auto* word) {
        return exec::atomic_exchange<detail::kRelaxed, detail::kSystem>(word, bits);
      });
}

template <class T>
CHIME_DEVICE T atomic_fetch_inc(const Context& ctx, T* dst, int pe) {
  return detail::amo_fetch_add<Operation::kAtomicFetchInc>(ctx, dst, T{1}, pe);
}

// Stores `value` if the word equals `expected`; equal means the same bits.
template <class T>
CHIME_DEVICE T atomic_compare_swap(const Context& ctx, T* dst, std::type_identity_t<T> expected,
                                   std::type_identity_t<T> value, int pe) {
  const auto is = p2p::to_word(expected), becomes = p2p::to_word(value);
  return detail::fetch_amo<Operation::kAtomicCompareSwap>(
      ctx, dst, pe, nic::compare_swap_request(is, becomes), [&](auto* word) {
        return exec::atomic_cas<detail::kRelaxed, detail::kSystem>(word, is, becomes);
      });
}

}  // namespace chime

#endif  // CHIME_DEVICE_AMO_CUH_
