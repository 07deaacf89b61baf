// Scans: a member combines what the members up to this one have.
#ifndef CHIME_DEVICE_COLL_SCAN_CUH_
#define CHIME_DEVICE_COLL_SCAN_CUH_

#include <cstddef>

#include "chime/device/coll/collective.cuh"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/reduction.cuh"

namespace chime {
namespace detail {

// Member r gets the elements of members 0 to r combined, or to r - 1. What does not go as words
// goes to the members above alone; the others hear that it is their turn.
template <class Combine, class Group>
CHIME_DEVICE bool scan_all(const Context& ctx, Group g, Meeting meeting, Combine combine,
                           const Reduction& all, bool with_own) {
  const std::size_t each = elements_of_slot(ctx, meeting, combine) * combine.bytes();
  const std::size_t end = all.n * combine.bytes();
  constexpr Round kRound = Round::kTurnOfWords;
  const abi::Team& team = team_of(ctx, meeting.handle);
  const unsigned me = rank_of(ctx, meeting);
  std::size_t begin = 0;
  do {  // also once for n = 0: all come
    const std::size_t bytes = end - begin < each ? end - begin : each;
    if (is_doubled(ctx, meeting, bytes)) {
      if (!combine_by_doubling(ctx, g, meeting, combine, all.dst + begin, all.src + begin, bytes,
                               with_own ? me + 1 : me))
        return false;
      begin += each;
      continue;
    }
    const unsigned lowest = bytes <= bytes_of_words(team) ? 0 : me + 1;
    const Pieces pieces = {all.src + begin, 0, bytes, bytes, lowest};
    if (!take_turn(ctx, g, meeting, kRound, pieces, bytes)) return false;
    if (!complete_sources(ctx, g, meeting, bytes)) return false;  // in place, they may change now
    Shares shares = shares_of(ctx, meeting, kRound, bytes, pieces.src);
    shares.members = with_own ? me + 1 : me;
    combine(g, all.dst + begin, bytes, shares);
    end_turn(ctx, g, meeting, kRound, bytes);
    begin += each;
  } while (begin < end);
  return true;
}

template <class Combine, class Group>
CHIME_DEVICE int scan_by(const Context& ctx, Group g, chime_team_t team, Combine combine,
                         const Reduction& all, bool with_own) {
  const Operation operation = with_own ? Operation::kInscan : Operation::kExscan;
  return collective(ctx, g, call_of(operation, team, combine, all, 1), [&](Meeting meeting) {
    return scan_all(ctx, g, meeting, combine, all, with_own);
  });
}

}  // namespace detail

// dst[i] = src[i] of members 0 to r, combined by Op, where the calling PE is member r. exscan: of
// members 0 to r - 1; T{} on member 0.
template <class Op, class T, class Group>
CHIME_DEVICE int inscan(const Context& ctx, Group g, chime_team_t team, T* dst, const T* src,
                        std::size_t n) {
  return detail::scan_by(ctx, g, team, detail::CombineBy<Op, T>{},
                         detail::reduction_of(dst, src, n), true);
}
template <class Op, class T, class Group>
CHIME_DEVICE int exscan(const Context& ctx, Group g, chime_team_t team, T* dst, const T* src,
                        std::size_t n) {
  return detail::scan_by(ctx, g, team, detail::CombineBy<Op, T>{},
                         detail::reduction_of(dst, src, n), false);
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_SCAN_CUH_
