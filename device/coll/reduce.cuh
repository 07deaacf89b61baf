// Reductions among the members of a team.
//
// A piece of each member's data goes to the member that combines it, into that PE's scratch: a
// member's slot there bounds the piece. What fits a slot goes to all, and each combines it for
// itself. More is cut into blocks of a slot's length for each member: the member of a block's
// number combines it, and puts the result to all. A rest that fits a slot goes to all again.
// Long sources take other paths where they can: each member reads its block of all sources,
// where they are or where the blocks were sent (sources.cuh). By nodes it reads a part of those of
// its node, and then a block of what members of other nodes made of theirs.
#ifndef CHIME_DEVICE_COLL_REDUCE_CUH_
#define CHIME_DEVICE_COLL_REDUCE_CUH_

#include <cstddef>

#include "chime/device/coll/collective.cuh"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/multimem.cuh"
#include "chime/device/coll/nodes.cuh"
#include "chime/device/coll/reduction.cuh"
#include "chime/device/coll/sources.cuh"

namespace chime {
namespace detail {

// One block for each member. When a member has the others' results, they have read its source.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE bool reduce_by_loads(const Context& ctx, Group g, Meeting meeting,
                                              Combine combine, const Reduction& all) {
  const Pieces blocks = blocks_of(ctx, meeting, all.src, all.n * combine.bytes());
  const std::size_t begin = rank_of(ctx, meeting) * blocks.each;
  const std::size_t bytes = blocks.bytes(rank_of(ctx, meeting));
  std::byte* const result = all.dst + begin;
  combine_sources(ctx, g, meeting, combine, result, all.src + begin, bytes, begin);
  return exchange(ctx, g, meeting, Round::kPlain, result, whole(result, bytes), 0);
}

// The same where blocks come to destinations. The PE's result replaces another member's elements
// one by one, and none sends its result to a member that still combines.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE bool reduce_by_stages(const Context& ctx, Group g, Meeting meeting,
                                               Combine combine, Reduction all) {
  const Pieces blocks = blocks_of(ctx, meeting, all.src, all.n * combine.bytes());
  if (!stage_sources(ctx, g, meeting, all.dst, blocks)) return false;
  const std::size_t begin = rank_of(ctx, meeting) * blocks.each;
  const std::size_t bytes = blocks.bytes(rank_of(ctx, meeting));
  std::byte* const result = all.dst + begin;
  combine_staged(ctx, g, meeting, combine, result, all.src + begin, bytes, all.dst, blocks.each,
                 true);
  return hear_all(ctx, g, meeting) &&
         exchange(ctx, g, meeting, Round::kPlain, result, whole(result, bytes), 0);
}

// The first part of each block, by slots. Returns its bytes; 0: it failed.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE std::size_t reduce_first_part(const Context& ctx, Group g, Meeting meeting,
                                                       Combine combine, Reduction all) {
  Pieces part = blocks_of(ctx, meeting, all.src, all.n * combine.bytes());
  const std::size_t slot = team_of(ctx, meeting.handle).slot_bytes;  // whole packs
  if (slot < part.each) part.each = slot;
  const std::size_t begin = rank_of(ctx, meeting) * part.stride;
  const std::size_t bytes = part.bytes(rank_of(ctx, meeting));
  if (!take_turn(ctx, g, meeting, Round::kTurn, part, bytes)) return 0;
  combine(g, all.dst + begin, bytes,
          shares_of(ctx, meeting, Round::kTurn, bytes, part.src + begin));
  end_turn(ctx, g, meeting, Round::kTurn, bytes);
  return part.each;
}

// The part of each block that follows `done` bytes, and has as many. At the receiver the sender's
// own block has been sent as far: there the part goes. The last block has room for it as well: it
// is no shorter than half of another one (room_of_reduce).
struct NextPart {
  const std::byte* src;
  std::size_t each, end, done;  // bytes of a block, of all, of each block before the part

  CHIME_DEVICE std::size_t bytes(unsigned rank) const {
    const std::size_t first = rank * each + done, most = done < each - done ? done : each - done;
    if (first >= end) return 0;
    return end - first < most ? end - first : most;
  }
  CHIME_DEVICE Message prepare(unsigned rank, void* dst) const {
    return {rank, dst, src + rank * each + done, bytes(rank)};
  }
};

template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE bool reduce_next_part(const Context& ctx, Group g, Meeting meeting,
                                               Combine combine, std::byte* dst, NextPart part) {
  std::byte* const here = dst + rank_of(ctx, meeting) * part.each;
  if (!exchange(ctx, g, meeting, Round::kPlain, here, part, 0)) return false;
  const std::size_t begin = rank_of(ctx, meeting) * part.each + part.done;
  combine_staged(ctx, g, meeting, combine, dst + begin, part.src + begin,
                 part.bytes(rank_of(ctx, meeting)), dst, part.each, false);
  return hear_all(ctx, g, meeting);  // the next part comes to the same place
}

// A round in which this PE's block of a result of n bytes goes to all.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool spread_block(const Context& ctx, Group g, Meeting meeting,
                                           std::byte* dst, std::size_t n) {
  const Pieces blocks = blocks_of(ctx, meeting, dst, n);
  const unsigned me = rank_of(ctx, meeting);
  std::byte* const mine = dst + me * blocks.each;
  return exchange(ctx, g, meeting, Round::kPlain, mine, whole(mine, blocks.bytes(me)), 0);
}

// reduce_by_stages() in place, by parts.
template <class Combine, class Group>
CHIME_DEVICE bool reduce_in_place(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                  Reduction all) {
  const std::size_t n = all.n * combine.bytes(), each = bytes_of_block(ctx, meeting, n);
  std::size_t done = reduce_first_part(ctx, g, meeting, combine, all);
  bool goes_on = done != 0;
  for (; goes_on && done < each; done += done)
    goes_on = reduce_next_part(ctx, g, meeting, combine, all.dst, {all.src, each, n, done});
  return goes_on && spread_block(ctx, g, meeting, all.dst, n);
}

// ---- By nodes -----------------------------------------------------------------------------------

// Where blocks of member `rank`'s part come to its destination: into another part, densely in the
// order of nodes.
CHIME_DEVICE std::byte* staged_by_nodes(const Context& ctx, Meeting meeting, NodeBlocks blocks,
                                        unsigned rank) {
  const bool is_first = rank % node_members_of(ctx, meeting) == 0;
  return blocks.dst + (is_first ? NodeBlocks::part(ctx, meeting, blocks.n) : 0);
}

// Whether a reduction goes by nodes, of operations with this number on n bytes; the same on all
// members. What members of a node make of their elements must be a value of the tree of all, and
// keep all its bits; and there must be room for the blocks of other nodes.
CHIME_DEVICE bool is_reduced_by_nodes(const Context& ctx, Meeting meeting, unsigned number,
                                      std::size_t n) {
  if (n < team_of(ctx, meeting.handle).switch_at.reduce_by_nodes) return false;
  const unsigned each = node_members_of(ctx, meeting), members = size_of(ctx, meeting);
  if (each == 0 || (each & (each - 1)) != 0 || members > 1u << kLevels) return false;
  const std::size_t part = NodeBlocks::part(ctx, meeting, n);
  const std::size_t staged = (members / each - 1) * NodeBlocks::each(ctx, meeting, n);
  const bool has_room = staged <= part && part + staged <= n;
  return keeps_partial_values(number) && has_room;
}

// A round in which this PE's results of its node go to the members of its place, each a block.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool stage_by_nodes(const Context& ctx, Group g, Meeting meeting,
                                             NodeBlocks blocks) {
  next_round(ctx, g, meeting);
  bool failed = false;
  unsigned rank = 0;
  for (unsigned i = 0; (rank = peer_at(ctx, meeting, Peers::kElsewhere, i)) != kNoPeer; ++i) {
    const unsigned each = node_members_of(ctx, meeting), me = rank_of(ctx, meeting);
    Message message = block_of(ctx, meeting, blocks, rank);
    message.dst =
        staged_by_nodes(ctx, meeting, blocks, rank) +
        Shares::dense_place(me / each, rank / each) * NodeBlocks::each(ctx, meeting, blocks.n);
    failed = !send_data(ctx, g, meeting, Round::kPlain, message) || failed;
  }
  send_arrivals_elsewhere(ctx, g, meeting);
  for (unsigned i = 0; g.is_leader() && !failed; ++i) {
    if ((rank = peer_at(ctx, meeting, Peers::kElsewhere, i)) == kNoPeer) break;
    failed = !await_message(ctx, meeting, rank, 0);
  }
  return !g.any(failed);
}

// A round, in place: the members of this node have read this PE's source, so those of its place may
// send blocks to it, and the other way round.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool free_sources(const Context& ctx, Group g, Meeting meeting) {
  next_round(ctx, g, meeting);
  return hear_from(ctx, g, meeting, Peers::kHere, 0) &&
         hear_from(ctx, g, meeting, Peers::kElsewhere, 0);
}

// This PE's part of the node's sources. Out of line, as the next: each has few registers.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE void combine_node(const Context& ctx, Group g, Meeting meeting,
                                           Combine combine, Reduction all) {
  const std::size_t n = all.n * combine.bytes(), part = NodeBlocks::part(ctx, meeting, n);
  const unsigned each = node_members_of(ctx, meeting), me = rank_of(ctx, meeting);
  const std::size_t begin = me % each * part, rest = begin < n ? n - begin : 0;
  combine(g, all.dst + begin, rest < part ? rest : part,
          Shares{.own = all.src + begin,
                 .others = nullptr,
                 .stride = 0,
                 .me = me % each,
                 .members = each,
                 .places = places_of_sources(ctx, meeting) + me / each * each,
                 .begin = begin});
}
// This PE's block of that, and what came of other nodes.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE void combine_nodes(const Context& ctx, Group g, Meeting meeting,
                                            Combine combine, NodeBlocks blocks) {
  const unsigned each = node_members_of(ctx, meeting), me = rank_of(ctx, meeting);
  const Message own = block_of(ctx, meeting, blocks, me);
  combine(g, static_cast<std::byte*>(own.dst), own.bytes,
          Shares{.own = static_cast<const std::byte*>(own.src),
                 .others = staged_by_nodes(ctx, meeting, blocks, me),
                 .stride = NodeBlocks::each(ctx, meeting, blocks.n),
                 .me = me / each,
                 .members = size_of(ctx, meeting) / each,
                 .is_dense = true});
}

// A block that this PE has sent is replaced by its result, whose sender has it. The other parts of
// the destination are results of this node's members, which wait until the blocks there are
// combined.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE bool reduce_by_nodes(const Context& ctx, Group g, Meeting meeting,
                                              Combine combine, Reduction all, bool in_place) {
  combine_node(ctx, g, meeting, combine, all);
  if (in_place && !free_sources(ctx, g, meeting)) return false;
  const NodeBlocks blocks = {all.dst, all.n * combine.bytes(), true};
  if (!stage_by_nodes(ctx, g, meeting, blocks)) return false;
  combine_nodes(ctx, g, meeting, combine, blocks);
  return spread_by_nodes(ctx, g, meeting, blocks, true);
}

// ---- By any way ---------------------------------------------------------------------------------

// In place, the source of a block changes when its result comes: the member that sends it has got
// this PE's piece.
template <class Combine, class Group>
CHIME_DEVICE bool reduce_by_slots(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                  const Reduction& all) {
  const std::size_t each = elements_of_slot(ctx, meeting, combine) * combine.bytes();
  const std::size_t end = all.n * combine.bytes();
  for (std::size_t begin = 0;;) {
    const bool is_short = end - begin <= each;
    const Pieces pieces = {all.src + begin, is_short ? 0 : each, each, end - begin};
    const std::size_t mine = is_short ? 0 : rank_of(ctx, meeting) * each;  // from `begin` on
    const std::size_t bytes = pieces.bytes(rank_of(ctx, meeting));
    if (is_short && is_doubled(ctx, meeting, bytes)) {
      return combine_by_doubling(ctx, g, meeting, combine, all.dst + begin, pieces.src, bytes,
                                 size_of(ctx, meeting));
    }
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

// What room a reduction's destination has for blocks. In place, parts are no longer than half of a
// block, or than what is left of it: the last block must take them.
CHIME_DEVICE Room room_of_reduce(const Context& ctx, Meeting meeting, const Reduction& all,
                                 std::size_t bytes) {
  const std::size_t each = bytes_of_block(ctx, meeting, bytes);
  const std::size_t but_one = (size_of(ctx, meeting) - 1) * each;
  if (but_one > bytes) return Room::kNever;
  if (are_apart(all, bytes, bytes)) return Room::kAtOnce;
  const bool has_parts = bytes - but_one >= each / 2;
  return all.dst == all.src && has_parts ? Room::kAsSourcesLeave : Room::kNever;
}

// Out of line: its choices are no registers of the kernel.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE Sharing share_for_reduce(const Context& ctx, Group g, Meeting meeting,
                                                  unsigned number, bool by_multimem, Reduction all,
                                                  std::size_t bytes) {
  const bool by_nodes = is_reduced_by_nodes(ctx, meeting, number, bytes);
  const bool can = by_multimem && can_reduce_by_multimem(number & 0xff, all.dst, all.src);
  const Room room = room_of_reduce(ctx, meeting, all, bytes);
  const Sharing sharing =
      share_sources(ctx, g, meeting, {all.src, bytes, true, room, by_nodes, can});
  if (!by_multimem || sharing == Sharing::kFailed || sharing == Sharing::kAlike) return sharing;
  // Few bytes go by multimem, or as ever.
  return bytes < team_of(ctx, meeting.handle).switch_at.reduce ? Sharing::kRefused : sharing;
}

template <class Combine, class Group>
CHIME_DEVICE bool reduce_all(const Context& ctx, Group g, Meeting meeting, Combine combine,
                             const Reduction& all) {
  const std::size_t bytes = all.n * combine.bytes();
  const unsigned number = combine.number();
  const abi::SwitchSizes& switch_at = team_of(ctx, meeting.handle).switch_at;
  const bool by_multimem =
      multimem_combines(number) && goes_by_multimem(ctx, meeting.handle, abi::kReduceByMultimem);
  if (bytes >= switch_at.reduce_by_nodes && !know_nodes(ctx, g, meeting)) return false;
  if (by_multimem || bytes >= switch_at.reduce) {
    const Sharing sharing = share_for_reduce(ctx, g, meeting, number, by_multimem, all, bytes);
    if (sharing == Sharing::kFailed) return false;
    if (sharing == Sharing::kAlike)
      return reduce_by_multimem(ctx, g, meeting, number, all.dst, all.src, bytes);
    if (sharing == Sharing::kByNodes || sharing == Sharing::kByNodesInPlace)
      return reduce_by_nodes(ctx, g, meeting, combine, all, sharing == Sharing::kByNodesInPlace);
    if (sharing == Sharing::kMapped) return reduce_by_loads(ctx, g, meeting, combine, all);
    if (sharing == Sharing::kStaged) return reduce_by_stages(ctx, g, meeting, combine, all);
    if (sharing == Sharing::kInPlace) return reduce_in_place(ctx, g, meeting, combine, all);
  }
  return reduce_by_slots(ctx, g, meeting, combine, all);
}

// The round says that this PE has read the sources, and no more.
template <class Combine, class Group>
CHIME_DEVICE bool scatter_by_loads(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                   const Reduction& all) {
  const std::size_t bytes = all.n * combine.bytes();
  const std::size_t begin = rank_of(ctx, meeting) * bytes;
  combine_sources(ctx, g, meeting, combine, all.dst, all.src + begin, bytes, begin);
  return hear_all(ctx, g, meeting);
}

// Each round brings a part of all other sources to what is left of the destination, until parts are
// no longer than a slot. Returns how many bytes are done; SIZE_MAX: it failed.
template <class Combine, class Group>
CHIME_DEVICE_OUT_OF_LINE std::size_t scatter_by_parts(const Context& ctx, Group g, Meeting meeting,
                                                      Combine combine, Reduction all) {
  constexpr std::size_t kFailed = ~std::size_t{0};
  const std::size_t end = all.n * combine.bytes(), others = size_of(ctx, meeting) - 1;
  const std::byte* const own = all.src + rank_of(ctx, meeting) * end;
  std::size_t done = 0;
  while ((end - done) / others > team_of(ctx, meeting.handle).slot_bytes) {
    const std::size_t each = (end - done) / others / kWidest * kWidest;
    std::byte* const result = all.dst + done;
    if (!stage_sources(ctx, g, meeting, result, {all.src + done, end, each, kNoEnd}))
      return kFailed;
    combine_staged(ctx, g, meeting, combine, result, own + done, each, result, each, true);
    // Others may send the next part: it comes where this one was.
    if (!hear_all(ctx, g, meeting)) return kFailed;
    done += each;
  }
  return done;
}

// Member r gets elements r * n to r * n + n - 1, here from byte `begin` on.
template <class Combine, class Group>
CHIME_DEVICE bool scatter_by_slots(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                   const Reduction& all, std::size_t begin) {
  const std::size_t each = elements_of_slot(ctx, meeting, combine) * combine.bytes();
  const std::size_t end = all.n * combine.bytes();
  constexpr Round kRound = Round::kTurnOfWords;
  do {  // also once for n = 0: all come
    const std::size_t bytes = end - begin < each ? end - begin : each;
    const Pieces pieces = {all.src + begin, end, bytes, kNoEnd};
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
CHIME_DEVICE bool reduce_and_scatter(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                     const Reduction& all) {
  const std::size_t bytes = all.n * combine.bytes();
  const std::size_t of_all = bytes * size_of(ctx, meeting);
  std::size_t done = 0;
  if (of_all >= team_of(ctx, meeting.handle).switch_at.reducescatter) {
    const std::byte* const own = all.src + rank_of(ctx, meeting) * bytes;  // no other one reads it
    const bool is_apart = are_apart(all, bytes, of_all), stays = is_apart || all.dst == own;
    const Room room = is_apart ? Room::kAtOnce : Room::kNever;
    const Sharing sharing = share_sources(ctx, g, meeting, {all.src, of_all, stays, room});
    if (sharing == Sharing::kFailed) return false;
    if (sharing == Sharing::kMapped) return scatter_by_loads(ctx, g, meeting, combine, all);
    if (sharing == Sharing::kStaged) done = scatter_by_parts(ctx, g, meeting, combine, all);
    if (done > bytes) return false;
    if (done == bytes && done != 0) return true;
  }
  return scatter_by_slots(ctx, g, meeting, combine, all, done);
}

template <class Combine, class Group>
CHIME_DEVICE int reduce_by(const Context& ctx, Group g, chime_team_t team, Combine combine,
                           const Reduction& all) {
  return collective(ctx, g, call_of(Operation::kReduce, team, combine, all, 1),
                    [&](Meeting meeting) { return reduce_all(ctx, g, meeting, combine, all); });
}
template <class Combine, class Group>
CHIME_DEVICE int reducescatter_by(const Context& ctx, Group g, chime_team_t team, Combine combine,
                                  const Reduction& all) {
  return collective(
      ctx, g, call_of(Operation::kReducescatter, team, combine, all, members_of(ctx, team)),
      [&](Meeting meeting) { return reduce_and_scatter(ctx, g, meeting, combine, all); });
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
