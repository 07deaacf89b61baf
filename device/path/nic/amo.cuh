// Atomic operations by the NIC of the PE that owns the word: 4 or 8 bytes, atomic with each other.
#ifndef CHIME_DEVICE_PATH_NIC_AMO_CUH_
#define CHIME_DEVICE_PATH_NIC_AMO_CUH_

#include <cstdint>
#include <type_traits>

#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/fetch.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"
#include "chime/device/path/nic/submit.cuh"

namespace chime::nic {

// ---- What the NIC can do, as Chime's operations on unsigned words of 4 or 8 bytes ---------------

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

// No carry anywhere is an exclusive or.
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

// Takes `value` in the bits of `mask`, whatever the word is.
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

// ---- Operations ---------------------------------------------------------------------------------

namespace detail {

template <class Atomic>
CHIME_DEVICE constexpr Shape shape_of() {
  return {.wqebbs = kWqebbsOf<Atomic>, .wide = kWqebbsOf<Atomic> > 1};
}

template <class Word>
CHIME_DEVICE Word from_result(const NicQueue& queue, std::uint64_t value) {
  const auto word = static_cast<Word>(value);
  if constexpr (sizeof(Word) == 8) {
    return (queue.flags & abi::kNicResult8Big) != 0 ? abi::be64(word) : word;
  } else {
    return (queue.flags & abi::kNicResult4Big) != 0 ? abi::be32(word) : word;
  }
}

// The word before, as the NIC leaves it.
template <class Atomic>
CHIME_DEVICE bool fetch_result(Domain domain, NicQueue& queue, const Remote& remote,
                               const Atomic& atomic, std::uint64_t* value) {
  const exec::Committed to_free_the_slot;
  std::uint32_t slot = 0;
  const Ticket ticket = submit(
      domain, Thread{}, queue, shape_of<Atomic>(), [&](std::uint64_t index, std::uint8_t ce) {
        slot = fetch_slot_of(queue, index);
        take_fetch_slot(domain, queue, slot);
        put_atomic({queue, index, ce}, remote, atomic, local_of_slot(queue, slot));
      });
  return take_result(domain, ticket, slot, value);
}

}  // namespace detail

// Without a result. Complete after quiet.
template <class Atomic>
CHIME_DEVICE void post_amo(Domain domain, const void* dst, const Atomic& atomic, int pe) {
  NicQueue& queue = queue_to(domain, pe);
  const Remote remote = remote_word(domain, dst, pe);
  const Ticket ticket =
      submit(domain, Thread{}, queue, detail::shape_of<Atomic>(),
             [&](std::uint64_t index, std::uint8_t ce) {
               put_atomic({queue, index, ce}, remote, atomic, detail::sink_of(queue));
             });
  if (!ticket.ok()) leave_queue(domain, queue);
}

// Returns the word before. Zero if it failed and CHIME_ON_ERROR=return.
template <class Atomic>
CHIME_DEVICE typename Atomic::Word fetch_amo(Domain domain, const void* dst, const Atomic& atomic,
                                             int pe) {
  NicQueue& queue = queue_to(domain, pe);
  std::uint64_t value = 0;
  if (detail::fetch_result(domain, queue, remote_word(domain, dst, pe), atomic, &value)) {
    return detail::from_result<typename Atomic::Word>(queue, value);
  }
  leave_queue(domain, queue);
  return 0;
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_AMO_CUH_
