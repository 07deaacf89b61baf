// Scans: a member combines what the members up to this one have.
//
// A short scan goes by slots: each member sends its elements to the members above. In a long one
// each member combines one block for all, as in a reduction, and sends each other member its
// prefix. So a member sends about twice its source, and not once for each member above. The blocks
// lie in destinations, behind the part of the result that is being made.
#ifndef CHIME_DEVICE_COLL_SCAN_CUH_
#define CHIME_DEVICE_COLL_SCAN_CUH_

#include <cstddef>

#include "chime/device/coll/collective.cuh"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/reduction.cuh"
#include "chime/device/coll/sources.cuh"

namespace chime {
namespace detail {

// Where a member has the blocks of a part, and then the prefixes, that are others': densely.
struct Prefixes {
  std::byte* staged;
  std::size_t each;
  unsigned me;

  CHIME_DEVICE std::byte* of(unsigned rank) const {
    return staged + Shares::dense_place(rank, me) * each;
  }
  CHIME_DEVICE std::size_t bytes(unsigned /*rank*/) const { return each; }
  CHIME_DEVICE Message prepare(unsigned rank, void* dst) const {
    return {rank, dst, of(rank), each};
  }
};

// Each member's prefix of this PE's block. The last one first: its elements are no part of any
// other, so its prefix may replace them.
template <class Combine, class Group>
CHIME_DEVICE void combine_prefixes(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                   std::byte* mine, const std::byte* own, Prefixes others,
                                   bool with_own) {
  for (unsigned rank = size_of(ctx, meeting); rank-- > 0;) {
    combine(g, rank == others.me ? mine : others.of(rank), others.each,
            {.own = own,
             .others = others.staged,
             .stride = others.each,
             .me = others.me,
             .members = with_own ? rank + 1 : rank,
             .is_dense = true});
    g.sync();  // other threads may combine these elements for the next one
  }
}

// A block of `each` bytes for each member. Others' blocks lie behind this part of the result, until
// their prefixes have come to their members: all know that after the last round.
template <class Combine, class Group>
CHIME_DEVICE bool scan_part(const Context& ctx, Group g, Meeting meeting, Combine combine,
                            std::byte* dst, const std::byte* src, std::size_t each, bool with_own) {
  const unsigned me = rank_of(ctx, meeting);
  const Prefixes others = {dst + size_of(ctx, meeting) * each, each, me};
  if (!stage_sources(ctx, g, meeting, others.staged, {src, each, each, kNoEnd})) return false;
  std::byte* const mine = dst + me * each;
  combine_prefixes(ctx, g, meeting, combine, mine, src + me * each, others, with_own);
  return exchange(ctx, g, meeting, Round::kPlain, mine, others, 0) && hear_all(ctx, g, meeting);
}

// The bytes of a block: a part and the others' blocks take 2n - 1. Less than slots take in as many
// rounds: 0.
CHIME_DEVICE std::size_t block_of_scan(const Context& ctx, Meeting meeting, std::size_t rest) {
  constexpr std::size_t kRounds = 3;
  const std::size_t members = size_of(ctx, meeting);
  const std::size_t each = rest / (2 * members - 1) / kWidest * kWidest;
  return members * each > kRounds * team_of(ctx, meeting.handle).slot_bytes ? each : 0;
}

// Returns how many bytes are done; SIZE_MAX: it failed.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE std::size_t scan_by_parts(const Context& ctx, Group g, Meeting meeting,
                                                   Combine combine, Reduction all, bool with_own) {
  const std::size_t end = all.n * combine.bytes();
  std::size_t done = 0;
  while (const std::size_t each = block_of_scan(ctx, meeting, end - done)) {
    if (!scan_part(ctx, g, meeting, combine, all.dst + done, all.src + done, each, with_own))
      return ~std::size_t{0};
    done += size_of(ctx, meeting) * each;
  }
  return done;
}

// As much as a slot takes. What does not go as words goes to the members above alone; the others
// hear that it is their turn.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE bool scan_slot(const Context& ctx, Group g, Meeting meeting,
                                        Combine combine, std::byte* dst, const std::byte* src,
                                        std::size_t bytes, bool with_own) {
  constexpr Round kRound = Round::kTurnOfWords;
  const unsigned me = rank_of(ctx, meeting), members = with_own ? me + 1 : me;
  if (is_doubled(ctx, meeting, bytes))
    return combine_by_doubling(ctx, g, meeting, combine, dst, src, bytes, members);
  const unsigned lowest = bytes <= bytes_of_words(team_of(ctx, meeting.handle)) ? 0 : me + 1;
  if (!take_turn(ctx, g, meeting, kRound, Pieces{src, 0, bytes, bytes, lowest}, bytes))
    return false;
  if (!complete_sources(ctx, g, meeting, bytes)) return false;  // in place, they may change now
  Shares shares = shares_of(ctx, meeting, kRound, bytes, src);
  shares.members = members;
  combine(g, dst, bytes, shares);
  end_turn(ctx, g, meeting, kRound, bytes);
  return true;
}

template <class Combine, class Group>
CHIME_DEVICE bool scan_by_slots(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                std::byte* dst, const std::byte* src, std::size_t rest,
                                bool with_own) {
  do {  // also once for n = 0: all come
    const std::size_t each = elements_of_slot(ctx, meeting, combine) * combine.bytes();
    const std::size_t bytes = rest < each ? rest : each;
    if (!scan_slot(ctx, g, meeting, combine, dst, src, bytes, with_own)) return false;
    dst += bytes, src += bytes, rest -= bytes;
  } while (rest != 0);
  return true;
}

// Member r gets the elements of members 0 to r combined, or to r - 1.
template <class Combine, class Group>
CHIME_DEVICE bool scan_all(const Context& ctx, Group g, Meeting meeting, Combine combine,
                           const Reduction& all, bool with_own) {
  const std::size_t bytes = all.n * combine.bytes();
  std::size_t done = 0;
  if (bytes >= team_of(ctx, meeting.handle).switch_at.scan) {
    const Room room = are_apart(all, bytes, bytes) ? Room::kAtOnce : Room::kNever;
    // Nobody loads the sources where they are.
    const Sharing sharing = share_sources(ctx, g, meeting, {all.src, bytes, false, room});
    if (sharing == Sharing::kFailed) return false;
    if (sharing == Sharing::kStaged) done = scan_by_parts(ctx, g, meeting, combine, all, with_own);
    if (done > bytes) return false;
    if (done == bytes && done != 0) return true;
  }
  return scan_by_slots(ctx, g, meeting, combine, all.dst + done, all.src + done, bytes - done,
                       with_own);
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
