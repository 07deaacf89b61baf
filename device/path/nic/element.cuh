// p: a write of one element by each thread. Lanes of a warp whose elements lie side by side at the
// peer write one request together: each writes its own element, and the leader the segments that
// address it.
//
// The path of a single thread is inline. The path of several lanes is out of line, because it would
// cost the single thread registers.
#ifndef CHIME_DEVICE_PATH_NIC_ELEMENT_CUH_
#define CHIME_DEVICE_PATH_NIC_ELEMENT_CUH_

#include <cstdint>

#include "chime/abi/wqe.h"
#include "chime/device/channel/posters.cuh"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"

namespace chime::nic {

using channel::Posters;

// Whether one request can carry the elements of a whole warp, and `ready` can hold its tail.
template <class W>
inline constexpr bool kIsGathered = sizeof(W) <= 8;

namespace detail {

static_assert(abi::wqebbs_of(2 + abi::inline_segments_of(abi::kMostInline)) <= abi::kMostTail + 1);

// Whether the posters' elements are consecutive at the peer, in the order of their ranks.
template <class W>
CHIME_DEVICE bool are_neighbours(const Posters& posters, const W* dst) {
  return exec::all(posters.mask, dst == posters.from_leader(dst) + posters.rank());
}

CHIME_DEVICE Shape shape_of_inline(std::uint32_t bytes) {
  const unsigned units = abi::wqebbs_of(2 + abi::inline_segments_of(bytes));
  return {.units = units, .tail = units - 1};
}

template <class W>
CHIME_DEVICE void put_element(const Context& ctx, const Channel& queue, const QueueView& view,
                              std::uint64_t index, bool is_last, const W* dst, W value) {
  put_inline_write({view, index, is_last}, remote_word(ctx, queue, dst), sizeof(W),
                   inline_data_of(value));
}

// The posters' syncs in submit_together() stand between the lanes' stores and the leader's fence.
template <class W>
CHIME_DEVICE void put_gathered(const Context& ctx, const Channel& queue, const QueueView& view,
                               std::uint64_t index, const Posters& posters, const W* dst, W value) {
  Request request = {view, index, true};
  request.inline_element(posters.rank(), value);
  if (!posters.is_leader()) return;
  request.remote(remote_word(ctx, queue, dst));
  request.inline_header(posters.count() * sizeof(W));
  request.end(abi::WqeOpcode::kWrite);
}

// `mask`: the lanes that are at the call now. `done`: the value that channel::look() has set.
template <class W>
CHIME_DEVICE_OUT_OF_LINE bool write_elements(const Context& ctx, Channel& queue, unsigned mask,
                                             std::uint64_t done, const W* dst, W value) {
  const Posters posters = {mask};
  const unsigned count = posters.count();
  const bool gathers = are_neighbours(posters, dst);
  const Shape all = gathers ? shape_of_inline(count * sizeof(W)) : Shape{.units = count};
  return channel::submit_together<Path::kNic>(
             ctx, posters, queue, done, all,
             [&](const QueueView& view, std::uint64_t base) {
               if (gathers) return put_gathered(ctx, queue, view, base, posters, dst, value);
               const unsigned rank = posters.rank();
               put_element(ctx, queue, view, base + rank, posters.is_last(), dst, value);
             })
      .ok();
}

}  // namespace detail

// False: the queue is out of use.
template <class W>
CHIME_DEVICE bool write_element(const Context& ctx, Channel& queue, W* dst, W value) {
  std::uint64_t done = 0;
  if (!channel::look<Path::kNic>(ctx, queue, done)) return false;
  const exec::Committed from_reservation_to_commit;
  const Posters posters = channel::posters_to(Thread{}, queue, channel::kForElements);
  if (posters.are_many()) {
    return detail::write_elements<W>(ctx, queue, posters.mask, done, dst, value);
  }
  return channel::submit_together<Path::kNic>(ctx, channel::One{}, queue, done, {.units = 1},
                                              [&](const QueueView& view, std::uint64_t base) {
                                                detail::put_element<W>(ctx, queue, view, base, true,
                                                                       dst, value);
                                              })
      .ok();
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_ELEMENT_CUH_
