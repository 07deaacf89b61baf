// Reductions among the members of a team.
//
// A piece of each member's data goes to the member that combines it, into that PE's scratch: a
// member's slot there bounds the piece. What fits a slot goes to all, and each combines it for
// itself. More is cut into blocks of a slot's length for each member: the member of a block's
// number combines it, and puts the result to all. A rest that fits a slot goes to all again.
//
// Only a Combine knows the type of the elements: `bytes()` of one, and
// `combine(g, dst, bytes, shares)`, which makes so many bytes at `dst` of the members' elements.
#ifndef CHIME_DEVICE_COLL_REDUCE_CUH_
#define CHIME_DEVICE_COLL_REDUCE_CUH_

#include <cstddef>

#include "chime/device/coll/collective.cuh"
#include "chime/device/coll/combine.cuh"
#include "chime/device/coll/exchange.cuh"

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

// In place, the source of a block changes when its result comes: the member that sends it has got
// this PE's piece.
template <class Combine, class Group>
CHIME_DEVICE bool reduce_all(const Context& ctx, Group g, Meeting meeting, Combine combine,
                             const Reduction& all) {
  const std::size_t each = elements_of_slot(ctx, meeting, combine) * combine.bytes();
  const std::size_t end = all.n * combine.bytes();
  for (std::size_t begin = 0;;) {
    const bool is_short = end - begin <= each;
    const Pieces pieces = {all.src + begin, is_short ? 0 : each, each, end - begin};
    const std::size_t mine = is_short ? 0 : rank_of(ctx, meeting) * each;  // from `begin` on
    const std::size_t bytes = pieces.bytes(rank_of(ctx, meeting));
    // Members write results into the sources of blocks: an arrival orders what was there before.
    const Round round = is_short ? Round::kTurnOfWords : Round::kTurn;
    if (!take_turn(ctx, g, meeting, round, pieces, bytes)) return false;
    if (is_short && !complete_sources(ctx, g, meeting, bytes)) return false;
    std::byte* const result = all.dst + begin + mine;
    combine(g, result, bytes, shares_of(ctx, meeting, round, bytes, pieces.src + mine));
    end_turn(ctx, g, meeting, round, bytes);
    if (is_short) return true;
    const bool is_spread =
        exchange(ctx, g, meeting, Round::kPlain, result, whole(result, bytes), 0);
    begin += each * size_of(ctx, meeting);
    if (!is_spread || begin >= end) return is_spread;
  }
}

// Member r gets elements r * n to r * n + n - 1.
template <class Combine, class Group>
CHIME_DEVICE bool reduce_and_scatter(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                     const Reduction& all) {
  const std::size_t each = elements_of_slot(ctx, meeting, combine) * combine.bytes();
  const std::size_t end = all.n * combine.bytes();
  constexpr Round kRound = Round::kTurnOfWords;
  std::size_t begin = 0;
  do {  // also once for n = 0: all come
    const std::size_t bytes = end - begin < each ? end - begin : each;
    const Pieces pieces = {all.src + begin, end, bytes, ~std::size_t{0}};
    if (!take_turn(ctx, g, meeting, kRound, pieces, bytes)) return false;
    // In place, they may change now.
    if (!complete_sources(ctx, g, meeting, bytes)) return false;
    combine(g, all.dst + begin, bytes,
            shares_of(ctx, meeting, kRound, bytes, pieces.src + rank_of(ctx, meeting) * end));
    end_turn(ctx, g, meeting, kRound, bytes);
    begin += each;
  } while (begin < end);
  return true;
}

template <class Combine, class Group>
CHIME_DEVICE int reduce_by(const Context& ctx, Group g, chime_team_t team, Combine combine,
                           const Reduction& all) {
  const std::size_t bytes = CHIME_BYTES(all.n, combine.bytes());
  return collective(ctx, g, {team, Operation::kReduce, all.dst, all.src, bytes},
                    [&](Meeting meeting) { return reduce_all(ctx, g, meeting, combine, all); });
}
template <class Combine, class Group>
CHIME_DEVICE int reducescatter_by(const Context& ctx, Group g, chime_team_t team, Combine combine,
                                  const Reduction& all) {
  const std::size_t bytes = CHIME_BYTES(all.n, combine.bytes());
  const unsigned members = members_of(ctx, team);
  return collective(
      ctx, g, {team, Operation::kReducescatter, all.dst, all.src, bytes, 1, members},
      [&](Meeting meeting) { return reduce_and_scatter(ctx, g, meeting, combine, all); });
}

template <class T>
CHIME_DEVICE Reduction reduction_of(T* dst, const T* src, std::size_t n) {
  return {reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src), n};
}

}  // namespace detail

// dst[i] = the members' src[i], combined by Op, on all members, for i from 0 to n - 1. `dst` is
// symmetric; it may be `src`. Returns a chimex_status.
template <class Op, class T, class Group>
CHIME_DEVICE int reduce(const Context& ctx, Group g, chime_team_t team, T* dst, const T* src,
                        std::size_t n) {
  return detail::reduce_by(ctx, g, team, detail::CombineBy<Op, T>{},
                           detail::reduction_of(dst, src, n));
}

// dst[i] = the members' src[r * n + i], combined by Op, where the calling PE is member r.
template <class Op, class T, class Group>
CHIME_DEVICE int reducescatter(const Context& ctx, Group g, chime_team_t team, T* dst, const T* src,
                               std::size_t n) {
  return detail::reducescatter_by(ctx, g, team, detail::CombineBy<Op, T>{},
                                  detail::reduction_of(dst, src, n));
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_REDUCE_CUH_
