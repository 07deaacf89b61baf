// put, get, p, g and their strided forms on a peer that the NIC reaches.
//
// Of a warp or block its leader posts; the callers (device/rma.cuh) end blocking forms with a sync
// of the group. Addresses are symmetric ones, inside the heap.
#ifndef CHIME_DEVICE_PATH_NIC_RMA_CUH_
#define CHIME_DEVICE_PATH_NIC_RMA_CUH_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/path/nic/complete.cuh"
#include "chime/device/path/nic/fetch.cuh"
#include "chime/device/path/nic/inline_data.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"
#include "chime/device/path/nic/stage.cuh"
#include "chime/device/path/nic/submit.cuh"
#include "chime/device/path/nic/transfer.cuh"

namespace chime::nic {

// When an operation returns.
enum class Until {
  kPosted,  // nbi: memory here belongs to the operation until quiet
  kLocal    // memory here may be used again
};

namespace detail {

template <class Group>
CHIME_DEVICE Ticket write_inline(Domain domain, Group group, NicQueue& queue, const Remote& remote,
                                 std::uint32_t bytes, const abi::InlineData& data) {
  return submit(domain, group, queue, {.wqebbs = 1}, [&](std::uint64_t index, std::uint8_t ce) {
    put_inline_write({queue, index, ce}, remote, bytes, data);
  });
}

// By the leader. False: the queue is out of use.
template <std::size_t kLeast, class Group>
CHIME_DEVICE bool put(Domain domain, Group group, NicQueue& queue, void* dst, const void* src,
                      std::size_t bytes, int pe, Until until) {
  const auto* const from = static_cast<const std::byte*>(src);
  if (bytes <= abi::kInlineInTwoSegments) {
    const auto data = load_inline<kLeast>(from, static_cast<std::uint32_t>(bytes));
    return write_inline(domain, group, queue, remote_word(domain, dst, pe),
                        static_cast<std::uint32_t>(bytes), data)
        .ok();
  }
  const Remote remote = remote_data(domain, dst, pe);
  const Local local = find_local(domain, src, bytes);
  if (!local.is_known) return staged_write(domain, group, queue, remote, from, bytes);
  const Ticket ticket =
      transfer(domain, group, queue, abi::WqeOpcode::kWrite, remote, local, bytes);
  return until == Until::kPosted ? ticket.ok() : wait_for(domain, ticket);
}

template <class Group>
CHIME_DEVICE bool get(Domain domain, Group group, NicQueue& queue, void* dst, const void* src,
                      std::size_t bytes, int pe, Until until) {
  const Remote remote = remote_data(domain, src, pe);
  const Local local = find_local(domain, dst, bytes);
  if (!local.is_known) {
    return staged_read(domain, group, queue, remote, static_cast<std::byte*>(dst), bytes);
  }
  const Ticket ticket = transfer(domain, group, queue, abi::WqeOpcode::kRead, remote, local, bytes);
  return until == Until::kPosted ? ticket.ok() : wait_for(domain, ticket);
}

}  // namespace detail

// kLeast: an alignment that `src` and `bytes` are known to have. `bytes` is not 0.
template <std::size_t kLeast, class Group>
CHIME_DEVICE void put(Domain domain, Group group, void* dst, const void* src, std::size_t bytes,
                      int pe, Until until) {
  if (!group.is_leader()) return;
  NicQueue& queue = queue_to(domain, pe);
  if (!detail::put<kLeast>(domain, group, queue, dst, src, bytes, pe, until)) {
    leave_queue(domain, queue);
  }
}

template <class Group>
CHIME_DEVICE void get(Domain domain, Group group, void* dst, const void* src, std::size_t bytes,
                      int pe, Until until) {
  if (!group.is_leader()) return;
  NicQueue& queue = queue_to(domain, pe);
  if (!detail::get(domain, group, queue, dst, src, bytes, pe, until)) leave_queue(domain, queue);
}

// One element of up to 16 bytes.
template <class T>
CHIME_DEVICE void p(Domain domain, T* dst, const T& value, int pe) {
  NicQueue& queue = queue_to(domain, pe);
  const Ticket ticket = detail::write_inline(domain, Thread{}, queue, remote_word(domain, dst, pe),
                                             sizeof(T), inline_data_of(value));
  if (!ticket.ok()) leave_queue(domain, queue);
}

// Bytes of zero if it failed and CHIME_ON_ERROR=return.
template <class T>
CHIME_DEVICE T g(Domain domain, const T* src, int pe) {
  static_assert(sizeof(T) <= 16);
  NicQueue& queue = queue_to(domain, pe);
  const Remote remote = remote_data(domain, src, pe);
  constexpr std::uint32_t kFirst = sizeof(T) < 8 ? sizeof(T) : 8;
  std::uint64_t words[2] = {};
  bool ok = fetch_bytes(domain, queue, remote, kFirst, &words[0]);
  if constexpr (sizeof(T) > 8) {
    ok = ok && fetch_bytes(domain, queue, advanced(remote, 8), sizeof(T) - 8, &words[1]);
  }
  if (!ok) leave_queue(domain, queue);
  T value;
  memcpy(&value, words, sizeof(T));
  return value;
}

// Consecutive elements lie so many elements apart.
struct Strides {
  std::ptrdiff_t dst, src;
};

namespace detail {

// The i-th of elements that have the size of a Word and its alignment, if that is at most 8.
template <class Word>
CHIME_DEVICE Word load_element(const void* elements, std::ptrdiff_t i) {
  Word value;
  const void* const from = static_cast<const Word*>(elements) + i;
  memcpy(&value, __builtin_assume_aligned(from, sizeof(Word) < 8 ? sizeof(Word) : 8), sizeof(Word));
  return value;
}
template <class Word>
CHIME_DEVICE void store_element(void* elements, std::ptrdiff_t i, const Word& value) {
  void* const to = static_cast<Word*>(elements) + i;
  memcpy(__builtin_assume_aligned(to, sizeof(Word) < 8 ? sizeof(Word) : 8), &value, sizeof(Word));
}

}  // namespace detail

// Each member its own elements, as requests of their own.
template <class Word, class Group>
CHIME_DEVICE void iput(Domain domain, Group group, void* dst, const void* src, Strides strides,
                       std::size_t n, int pe) {
  for (std::size_t i = group.rank(); i < n; i += group.size()) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const auto value = detail::load_element<Word>(src, at * strides.src);
    p(domain, static_cast<Word*>(dst) + at * strides.dst, value, pe);
  }
}

template <class Word, class Group>
CHIME_DEVICE void iget(Domain domain, Group group, void* dst, const void* src, Strides strides,
                       std::size_t n, int pe) {
  for (std::size_t i = group.rank(); i < n; i += group.size()) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const Word value = g(domain, static_cast<const Word*>(src) + at * strides.src, pe);
    detail::store_element(dst, at * strides.dst, value);
  }
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_RMA_CUH_
