// Atomic memory operations on one word of 4 or 8 bytes at a PE. They are atomic with every other
// Chime atomic on that word, and have no order towards other operations (relaxed).
//
// Operations on integers work on the unsigned word of the type's size: addition and the bitwise
// operations have the same bits for signed types. Where a path has no atomic for an operation,
// compare-and-swap makes it: for addition of floating-point numbers, and for all operations on
// elements of 2 bytes. These work on the aligned 4 bytes that hold the element.
#ifndef CHIME_DEVICE_AMO_CUH_
#define CHIME_DEVICE_AMO_CUH_

#include <type_traits>

#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/exec/timeline.cuh"
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

template <class Copy, class A>
CHIME_DEVICE void do_post(const Context& ctx, const A& amo, int pe, Operation operation) {
  const Target target = target_word(amo.word);
  if (!go(ctx, Traffic::kAtomic, target, pe, [&](const auto& path) { path.amo(amo); })) {
    fail_route(ctx, target, pe, operation);
  }
}

template <class Copy, class A>
CHIME_DEVICE typename A::Word do_fetch(const Context& ctx, const A& amo, int pe,
                                       Operation operation) {
  const Target target = target_word(amo.word);
  typename A::Word before = 0;
  if (!go(ctx, Traffic::kAtomic, target, pe,
          [&](const auto& path) { before = path.fetch_amo(amo); })) {
    fail_route(ctx, target, pe, operation);
  }
  return before;
}

template <class A>
CHIME_DEVICE void post(const Context& ctx, const A& amo, int pe, Operation operation) {
  if (may_note(ctx)) {
    using W = typename A::Word;
    return note(
        ctx, Thread{}, {operation, pe, amo.word, sizeof(W), amo.operand},
        [](const Context& ctx, Thread, W* word, W operand, W compare, int pe, Operation operation) {
          do_post<Noting>(ctx, A{word, operand, compare}, pe, operation);
        },
        amo.word, amo.operand, amo.compare, pe, operation);
  }
  do_post<Quick>(ctx, amo, pe, operation);
}

// Returns the word before. Returns zero if no path leads to it and CHIME_ON_ERROR=return.
template <class A>
CHIME_DEVICE typename A::Word fetch(const Context& ctx, const A& amo, int pe, Operation operation) {
  if (may_note(ctx)) {
    using W = typename A::Word;
    return note(
        ctx, Thread{}, {operation, pe, amo.word, sizeof(W), amo.operand},
        [](const Context& ctx, Thread, W* word, W operand, W compare, int pe, Operation operation) {
          return do_fetch<Noting>(ctx, A{word, operand, compare}, pe, operation);
        },
        amo.word, amo.operand, amo.compare, pe, operation);
  }
  return do_fetch<Quick>(ctx, amo, pe, operation);
}

// ---- By compare-and-swap ------------------------------------------------------------------------

// An element in the word that atomics work on: its own word, or the aligned 4 bytes that hold an
// element of 2 bytes.
template <class T>
struct Enclosed {
  using Word = detail::Word<sizeof(T)>;
  CHIME_DEVICE explicit Enclosed(T* element) : word(word_ptr(element)) {
    static_assert(kIsAmoWord<T>, "atomics exist for 2, 4 and 8 bytes");
  }
  CHIME_DEVICE T in(Word whole) const { return from_word<T>(whole); }
  CHIME_DEVICE Word put_into(Word, T value) const { return to_word(value); }

  Word* const word;
};

template <class T>
requires(sizeof(T) == 2) struct Enclosed<T> {
  using Word = std::uint32_t;
  CHIME_DEVICE explicit Enclosed(T* element)
      : Enclosed(reinterpret_cast<std::uintptr_t>(element)) {}
  CHIME_DEVICE T in(Word whole) const {
    return from_word<T>(static_cast<std::uint16_t>(whole >> shift));
  }
  // Keeps the other half of `whole`.
  CHIME_DEVICE Word put_into(Word whole, T value) const {
    return (whole & ~(Word{0xffff} << shift)) | Word{to_word(value)} << shift;
  }

  Word* const word;
  const unsigned shift;

 private:
  CHIME_DEVICE explicit Enclosed(std::uintptr_t element)
      : word(reinterpret_cast<Word*>(element & ~std::uintptr_t{3})),
        shift(static_cast<unsigned>(element & 2) * 8) {}
};

// Replaces the element by next(element), and returns its value before. A swap succeeds only on the
// bits that `next` has seen, so no update of the element or of its neighbour is lost. The loop ends
// also after an error with CHIME_ON_ERROR=return: a failed operation gives zero, and so does the
// next one.
template <class T, class Path, class Next>
CHIME_DEVICE T replace(const Path& path, const Enclosed<T>& element, Next next) {
  using Word = typename Enclosed<T>::Word;
  Word before = path.fetch_amo(Amo<AmoOp::kFetch, Word>{element.word});
  for (;;) {
    const Word after = element.put_into(before, next(element.in(before)));
    const Word seen = path.fetch_amo(Amo<AmoOp::kCompareSwap, Word>{element.word, after, before});
    if (seen == before) return element.in(before);
    before = seen;
  }
}

// Calls `act(path)` with the path to the element. Returns zero if there is none and
// CHIME_ON_ERROR=return.
template <class T, class Act>
CHIME_DEVICE T on_element(const Context& ctx, T* element, int pe, Operation operation, Act act) {
  const Target target = target_word(element);
  T before = {};
  const exec::Traced traced = trace(ctx, Thread{}, {operation, pe, element, sizeof(T)});
  if (!go(ctx, Traffic::kAtomic, target, pe, [&](const auto& path) { before = act(path); })) {
    fail_route(ctx, target, pe, operation);
  }
  traced.end();
  return before;
}

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, exec::half>;

template <class T>
CHIME_DEVICE T sum(T a, T b) {
  if constexpr (std::is_same_v<T, exec::half>) {
    return exec::sum_of(a, b);
  } else {
    return a + b;
  }
}

// A path that adds floating-point numbers itself does so without a look before. `kFetches`: whether
// the caller needs the value before.
template <bool kFetches, class T>
CHIME_DEVICE T add_float(const Context& ctx, T* dst, T value, int pe, Operation operation) {
  return on_element(ctx, dst, pe, operation, [&](const auto& path) -> T {
    using Path = std::remove_cvref_t<decltype(path)>;
    if constexpr (!Path::kAddsFloats || sizeof(T) == 2) {
      return replace(path, Enclosed<T>(dst), [=](T before) { return sum(before, value); });
    } else if constexpr (kFetches) {
      return path.fetch_amo(Amo<AmoOp::kAdd, T>{dst, value});
    } else {
      path.amo(Amo<AmoOp::kAdd, T>{dst, value});
      return {};
    }
  });
}

template <class T>
CHIME_DEVICE T swap_half(const Context& ctx, T* dst, T value, int pe, Operation operation) {
  return on_element(ctx, dst, pe, operation, [&](const auto& path) {
    return replace(path, Enclosed<T>(dst), [=](T) { return value; });
  });
}

}  // namespace detail

// ---- Without a result ---------------------------------------------------------------------------

template <class T>
CHIME_DEVICE void atomic_set(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  if constexpr (sizeof(T) == 2) {
    detail::swap_half<T>(ctx, dst, value, pe, Operation::kAtomicSet);
  } else {
    detail::post(ctx, detail::amo_on<AmoOp::kSet>(dst, value), pe, Operation::kAtomicSet);
  }
}

template <class T>
CHIME_DEVICE void atomic_add(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  if constexpr (detail::kIsFloat<T>) {
    detail::add_float<false, T>(ctx, dst, value, pe, Operation::kAtomicAdd);
  } else {
    detail::post(ctx, detail::amo_on<AmoOp::kAdd>(dst, value), pe, Operation::kAtomicAdd);
  }
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
  if constexpr (sizeof(T) == 2) {
    const detail::Enclosed<T> element(const_cast<T*>(src));
    return detail::on_element(
        ctx, const_cast<T*>(src), pe, Operation::kAtomicFetch, [&](const auto& path) {
          return element.in(path.fetch_amo(Amo<AmoOp::kFetch, std::uint32_t>{element.word}));
        });
  } else {
    const auto amo = detail::amo_on<AmoOp::kFetch>(const_cast<T*>(src));
    return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicFetch));
  }
}

template <class T>
CHIME_DEVICE T atomic_fetch_add(const Context& ctx, T* dst, std::type_identity_t<T> value, int pe) {
  if constexpr (detail::kIsFloat<T>) {
    return detail::add_float<true, T>(ctx, dst, value, pe, Operation::kAtomicFetchAdd);
  } else {
    const auto amo = detail::amo_on<AmoOp::kAdd>(dst, value);
    return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicFetchAdd));
  }
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
  if constexpr (sizeof(T) == 2) {
    return detail::swap_half<T>(ctx, dst, value, pe, Operation::kAtomicSwap);
  } else {
    const auto amo = detail::amo_on<AmoOp::kSet>(dst, value);
    return from_word<T>(detail::fetch(ctx, amo, pe, Operation::kAtomicSwap));
  }
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
