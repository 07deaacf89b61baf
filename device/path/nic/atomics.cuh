// Atomic operations by the NIC of the PE that owns the word: 4 or 8 bytes, atomic with each other.
// Each of Chime's operations becomes one of the few that the NIC has.
#ifndef CHIME_DEVICE_PATH_NIC_ATOMICS_CUH_
#define CHIME_DEVICE_PATH_NIC_ATOMICS_CUH_

#include <cstdint>

#include "chime/abi/wqe.h"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/nic/fetch.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"

namespace chime::nic {

template <class W>
inline constexpr W kAllBits = static_cast<W>(~W{0});

template <class W>
CHIME_DEVICE auto add_request(W value) {
  if constexpr (sizeof(W) == 8) {
    return FetchAdd8{value};
  } else {
    return MaskedAdd4{value, 0};
  }
}

// Addition without any carry is an exclusive or.
template <class W>
CHIME_DEVICE auto xor_request(W value) {
  if constexpr (sizeof(W) == 8) {
    return MaskedAdd8{value, kAllBits<W>};
  } else {
    return MaskedAdd4{value, kAllBits<W>};
  }
}

template <class W>
CHIME_DEVICE auto masked_swap_request(const abi::MaskedSwap<W>& masked) {
  if constexpr (sizeof(W) == 8) {
    return MaskedSwap8{masked};
  } else {
    return MaskedSwap4{masked};
  }
}

// Sets the bits of `mask` to those of `value`, whatever the word is.
template <class W>
CHIME_DEVICE auto replace_request(W value, W mask) {
  return masked_swap_request<W>(
      {.swap = value, .compare = 0, .swap_mask = mask, .compare_mask = 0});
}
template <class W>
CHIME_DEVICE auto swap_request(W value) {
  return replace_request<W>(value, kAllBits<W>);
}
template <class W>
CHIME_DEVICE auto and_request(W value) {
  return replace_request<W>(0, static_cast<W>(~value));
}
template <class W>
CHIME_DEVICE auto or_request(W value) {
  return replace_request<W>(value, value);
}

template <class W>
CHIME_DEVICE auto compare_swap_request(W expected, W value) {
  if constexpr (sizeof(W) == 8) {
    return CompareSwap8{value, expected};
  } else {
    return masked_swap_request<W>({.swap = value,
                                   .compare = expected,
                                   .swap_mask = kAllBits<W>,
                                   .compare_mask = kAllBits<W>});
  }
}

template <class A>
CHIME_DEVICE auto request_of(const A& amo) {
  using W = typename A::Word;
  if constexpr (A::kOp == AmoOp::kFetch) {
    return add_request<W>(0);
  } else if constexpr (A::kOp == AmoOp::kSet) {
    return swap_request<W>(amo.operand);
  } else if constexpr (A::kOp == AmoOp::kAdd) {
    return add_request<W>(amo.operand);
  } else if constexpr (A::kOp == AmoOp::kAnd) {
    return and_request<W>(amo.operand);
  } else if constexpr (A::kOp == AmoOp::kOr) {
    return or_request<W>(amo.operand);
  } else if constexpr (A::kOp == AmoOp::kXor) {
    return xor_request<W>(amo.operand);
  } else {
    return compare_swap_request<W>(amo.compare, amo.operand);
  }
}

namespace detail {

template <class Atomic>
CHIME_DEVICE constexpr Shape shape_of() {
  return {.units = kWqebbsOf<Atomic>, .tail = kWqebbsOf<Atomic> - 1};
}

template <class Word>
CHIME_DEVICE Word from_result(const Channel& queue, std::uint64_t value) {
  const auto word = static_cast<Word>(value);
  if constexpr (sizeof(Word) == 8) {
    return (channel::head_of(queue).flags & abi::kNicResult8Big) != 0 ? abi::be64(word) : word;
  } else {
    return (channel::head_of(queue).flags & abi::kNicResult4Big) != 0 ? abi::be32(word) : word;
  }
}

// `*value` becomes the word before, in the byte order of the NIC.
template <class Atomic>
CHIME_DEVICE bool fetch_result(const Context& ctx, Channel& queue,
                               const typename Atomic::Word* word, const Atomic& atomic,
                               std::uint64_t* value) {
  const exec::Committed to_free_the_slot;
  std::uint32_t slot = 0;
  const Ticket ticket = submit(ctx, Thread{}, queue, shape_of<Atomic>(),
                               [&](const QueueView& view, std::uint64_t index, bool is_last) {
                                 slot = fetch_slot_of(queue, index);
                                 take_fetch_slot(ctx, queue, slot);
                                 put_atomic({view, index, is_last}, remote_word(ctx, queue, word),
                                            atomic, local_of_slot(queue, slot));
                               });
  return take_result(ctx, queue, ticket, slot, value);
}

}  // namespace detail

// Without a result. False: the queue is out of use.
template <class Atomic>
CHIME_DEVICE bool post_atomic(const Context& ctx, Channel& queue, const typename Atomic::Word* word,
                              const Atomic& atomic) {
  return submit(ctx, Thread{}, queue, detail::shape_of<Atomic>(),
                [&](const QueueView& view, std::uint64_t index, bool is_last) {
                  put_atomic({view, index, is_last}, remote_word(ctx, queue, word), atomic,
                             detail::sink_of(queue));
                })
      .ok();
}

// `*before` becomes the word before.
template <class Atomic>
CHIME_DEVICE bool fetch_atomic(const Context& ctx, Channel& queue,
                               const typename Atomic::Word* word, const Atomic& atomic,
                               typename Atomic::Word* before) {
  std::uint64_t value = 0;
  if (!detail::fetch_result(ctx, queue, word, atomic, &value)) return false;
  *before = detail::from_result<typename Atomic::Word>(queue, value);
  return true;
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_ATOMICS_CUH_
