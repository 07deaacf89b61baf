// Parts of reductions and scans: their arrays, and where the elements are that they combine.
//
// Only a Combine knows the type of the elements: `bytes()` of one, and
// `combine(g, dst, bytes, shares)`, which makes so many bytes at `dst` of the members' elements.
// `number()` says which operation and type it is, the same on all members.
#ifndef CHIME_DEVICE_COLL_REDUCTION_CUH_
#define CHIME_DEVICE_COLL_REDUCTION_CUH_

#include <cstddef>

#include "chime/device/coll/collective.cuh"
#include "chime/device/coll/combine.cuh"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/sources.cuh"

namespace chime {
namespace detail {

// A call's arrays, without the type of their elements.
struct Reduction {
  std::byte* dst;
  const std::byte* src;
  std::size_t n;  // elements; of a reducescatter those of one member
};

// Where the members' elements are after a turn: this PE's at `own`.
CHIME_DEVICE Shares shares_of(const Context& ctx, Meeting meeting, Round round, std::size_t bytes,
                              const std::byte* own) {
  const Arrived others = arrived(ctx, meeting, round, bytes);
  return {own, others.first, others.stride, rank_of(ctx, meeting), size_of(ctx, meeting)};
}

// Elements of a slot.
template <class Combine>
CHIME_DEVICE std::size_t elements_of_slot(const Context& ctx, Meeting meeting, Combine combine) {
  return team_of(ctx, meeting.handle).slot_bytes / combine.bytes();
}

// dst = the members' elements, this PE's at `own`, the others' at their sources + begin.
template <class Combine, class Group>
CHIME_DEVICE void combine_sources(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                  std::byte* dst, const std::byte* own, std::size_t bytes,
                                  std::size_t begin) {
  combine(g, dst, bytes,
          {.own = own,
           .others = nullptr,
           .stride = 0,
           .me = rank_of(ctx, meeting),
           .members = size_of(ctx, meeting),
           .places = places_of_sources(ctx, meeting),
           .begin = begin});
}

// The same where blocks came to `staged`, `stride` bytes apart.
template <class Combine, class Group>
CHIME_DEVICE void combine_staged(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                 std::byte* dst, const std::byte* own, std::size_t bytes,
                                 const std::byte* staged, std::size_t stride, bool is_dense) {
  combine(g, dst, bytes,
          {.own = own,
           .others = staged,
           .stride = stride,
           .me = rank_of(ctx, meeting),
           .members = size_of(ctx, meeting),
           .is_dense = is_dense});
}

// Whether n bytes at `dst` are none of the m at `src`.
CHIME_DEVICE bool are_apart(const Reduction& all, std::size_t n, std::size_t m) {
  return all.dst + n <= all.src || all.src + m <= all.dst;
}

// dst = what the first `members` members have, by doubling; their messages have `bytes`.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE bool combine_by_doubling(const Context& ctx, Group g, Meeting meeting,
                                                  Combine combine, std::byte* dst,
                                                  const std::byte* src, std::size_t bytes,
                                                  unsigned members) {
  if (!take_doubling_turn(ctx, g, meeting, src, bytes)) return false;
  const Arrived all = arrived_by_doubling(ctx, meeting, bytes);
  combine(g, dst, bytes, Shares{src, all.first, all.stride, rank_of(ctx, meeting), members});
  end_turn(ctx, g, meeting, Round::kTurn, bytes);
  return true;
}

template <class Combine>
CHIME_DEVICE Collective call_of(Operation operation, chime_team_t team, Combine combine,
                                const Reduction& all, std::size_t sources) {
  const std::size_t bytes = CHIME_BYTES(all.n, combine.bytes());
  return {.team = team,
          .operation = operation,
          .dst = all.dst,
          .src = all.src,
          .bytes = bytes,
          .dst_bytes = bytes,
          .src_bytes = CHIME_BYTES(bytes, sources),
          .variant = combine.number()};
}

template <class T>
CHIME_DEVICE Reduction reduction_of(T* dst, const T* src, std::size_t n) {
  return {reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src), n};
}

}  // namespace detail

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_REDUCTION_CUH_
