// Atomic memory operations on one word of a PE: of 4 or 8 bytes, atomic with every other Chime
// atomic on that word, and with no order towards other operations (relaxed).
//
// All work on the unsigned word of the type's size: addition and the bitwise operations have the
// same bits for signed types, and floating-point types are only fetched, set and swapped.
#ifndef CHIME_DEVICE_AMO_CUH_
#define CHIME_DEVICE_AMO_CUH_

#include <type_traits>

#include "chime/abi/context.h"
#include "chime/device/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/route.cuh"

namespace chime {
namespace detail {

template <class T>
inline constexpr bool kIsAmoWord = sizeof(T) == 4 || sizeof(T) == 8;

template <AmoOp kOp, class T>
CHIME_DEVICE auto amo_on(T* word, T operand = {}, T compare = {}) {
  static_assert(kIsAmoWord<T>, "atomics exist for 4 and 8 bytes");
  return Amo<kOp, Word<sizeof(T)>>{word_ptr(word), to_word(operand), to_word(compare)};
}

template <class A>
CHIME_DEVICE void post(const Context& ctx, const A& amo, int pe, Operation operation) {
  const Target target = target_word(amo.word);
  const Route route = route_to(ctx, Traffic::kAtomic, target, pe);
  if (!dispatch(ctx, route, [&](const auto& path) { path.amo(amo); })) {
    fail_route(ctx, target, pe, operation);
  }
}

// Returns the word before. Zero if there is no way to it and CHIME_ON_ERROR=return.
template <class A>
CHIME_DEVICE typename A::Word fetch(const Context& ctx, const A& amo, int pe, Operation operation) {
  const Target target = target_word(amo.word);
  const Route route = route_to(ctx, Traffic::kAtomic, target, pe);
  typename A::Word before = 0;
  if (!dispatch(ctx, route, [&](const auto& path) { before = path.fetch_amo(amo); })) {
    fail_route(ctx, target, pe, operation);
  }
  return before;
}

}  // namespace detail

// ---- Without a result ---------------------------------------------------------------------------

template <class T>
CHIME_DEVICE void atomic_set(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  detail::post(ctx, detail::amo_on<AmoOp::kSet>(dst, value), pe, Operation::kAtomicSet);
}

template <class T>
CHIME_DEVICE void atomic_add(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  detail::post(ctx, detail::amo_on<AmoOp::kAdd>(dst, value), pe, Operation::kAtomicAdd);
}

template <class T>
CHIME_DEVICE void atomic_and(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  detail::post(ctx, detail::amo_on<AmoOp::kAnd>(dst, value), pe, Operation::kAtomicAnd);
}

template <class T>
CHIME_DEVICE void atomic_or(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  detail::post(ctx, detail::amo_on<AmoOp::kOr>(dst, value), pe, Operation::kAtomicOr);
}

template <class T>
CHIME_DEVICE void atomic_xor(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  detail::post(ctx, detail::amo_on<AmoOp::kXor>(dst, value), pe, Operation::kAtomicXor);
}

template <class T>
CHIME_DEVICE void atomic_inc(const Context& ctx, T* dst, int pe) {
  detail::post(ctx, detail::amo_on<AmoOp::kAdd>(dst, T{1}), pe, Operation::kAtomicInc);
}

// ---- With the old value as result ---------------------------------------------------------------

template <class T>
CHIME_DEVICE T atomic_fetch(const Context& ctx, const T* src, int pe) {
  const auto amo = detail::amo_on<AmoOp::kFetch>(const_cast<T*>(src));
  return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicFetch));
}

template <class T>
CHIME_DEVICE T atomic_fetch_add(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto amo = detail::amo_on<AmoOp::kAdd>(dst, value);
  return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicFetchAdd));
}

template <class T>
CHIME_DEVICE T atomic_fetch_and(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto amo = detail::amo_on<AmoOp::kAnd>(dst, value);
  return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicFetchAnd));
}

template <class T>
CHIME_DEVICE T atomic_fetch_or(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto amo = detail::amo_on<AmoOp::kOr>(dst, value);
  return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicFetchOr));
}

template <class T>
CHIME_DEVICE T atomic_fetch_xor(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto amo = detail::amo_on<AmoOp::kXor>(dst, value);
  return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicFetchXor));
}

template <class T>
CHIME_DEVICE T atomic_swap(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  const auto amo = detail::amo_on<AmoOp::kSet>(dst, value);
  return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicSwap));
}

template <class T>
CHIME_DEVICE T atomic_fetch_inc(const Context& ctx, T* dst, int pe) {
  const auto amo = detail::amo_on<AmoOp::kAdd>(dst, T{1});
  return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicFetchInc));
}

// Stores `value` if the word equals `expected`; equal means the same bits.
template <class T>
CHIME_DEVICE T atomic_compare_swap(const Context& ctx, T* dst, std::type_identity_t<T> expected,
                                   std::type_identity_t<T> value, int pe) {
  const auto amo = detail::amo_on<AmoOp::kCompareSwap>(dst, value, expected);
  return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicCompareSwap));
}

}  // namespace chime

#endif  // CHIME_DEVICE_AMO_CUH_
