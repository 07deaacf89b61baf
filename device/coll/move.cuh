// Collectives that move data as it is: to where it belongs at once, for a program has its
// destination ready on all members before one of them calls.
#ifndef CHIME_DEVICE_COLL_MOVE_CUH_
#define CHIME_DEVICE_COLL_MOVE_CUH_

#include <cstddef>
#include <cstring>

#include "chime/device/coll/collective.cuh"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/members.cuh"
#include "chime/device/coll/multimem.cuh"
#include "chime/device/coll/nodes.cuh"
#include "chime/device/copy.cuh"

namespace chime {
namespace detail {

// The PE's own share.
template <class Group>
CHIME_DEVICE void copy_own(Group g, void* dst, const void* src, std::size_t bytes) {
  if (dst != src && bytes != 0) copy_from_peer(g, dst, src, bytes);
}

template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool broadcast_by_tree(const Context& ctx, Group g, Meeting meeting,
                                                void* dst, const void* src, std::size_t bytes,
                                                int root) {
  const BroadcastTree tree = {static_cast<unsigned>(root), size_of(ctx, meeting)};
  const unsigned distance = tree.distance(rank_of(ctx, meeting));
  if (g.is_leader()) begin_round(ctx, meeting, Round::kPlain);
  g.sync();
  unsigned step = BroadcastTree::step_to_parent(distance);
  bool failed = false;
  if (distance == 0) {
    copy_own(g, dst, src, bytes);
    for (step = 1; step < tree.members; step *= 2) continue;
  } else {
    const unsigned parent = tree.parent(distance);
    if (g.is_leader()) failed = !await_message(ctx, meeting, parent, kByTree + tree.root);
    if (g.any(failed)) return false;
    src = dst;
  }
  while ((step /= 2) != 0) {
    if (distance + step >= tree.members) continue;
    const unsigned child = tree.rank(distance + step);
    failed = !send_data(ctx, g, meeting, Round::kPlain, {child, dst, src, bytes}) || failed;
    g.sync();
    if (g.is_leader()) send_arrival(ctx, meeting, Round::kPlain, child, bytes);
  }
  return !g.any(failed);
}

// Each member but the root has a block of a long broadcast, in the order of distances from it.
struct BroadcastBlocks {
  const std::byte* src;
  std::size_t each, end;  // bytes of a block, of all
  unsigned root, members;

  CHIME_DEVICE std::size_t first(unsigned rank) const {
    const unsigned distance = rank > root ? rank - root : rank + members - root;
    return (distance - 1) * each;
  }
  CHIME_DEVICE std::size_t bytes(unsigned rank) const {
    if (rank == root || first(rank) >= end) return 0;
    return end - first(rank) < each ? end - first(rank) : each;
  }
  CHIME_DEVICE Message prepare(unsigned rank, void* dst) const {
    return {rank, static_cast<std::byte*>(dst) + first(rank), src + first(rank), bytes(rank)};
  }
};

// What a member sends to all others: nothing to the root, whose own it is.
struct ExceptToRoot {
  const std::byte* src;
  std::size_t each;
  unsigned root;

  CHIME_DEVICE std::size_t bytes(unsigned rank) const { return rank == root ? 0 : each; }
  CHIME_DEVICE Message prepare(unsigned rank, void* dst) const {
    return {rank, dst, src, bytes(rank)};
  }
};

// The root sends each other member its block, and that one sends it on. So no member sends more
// bytes than the source has, but for what blocks of whole packs add to a short one. The root of a
// tree sends them log2(n) times.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool broadcast_by_blocks(const Context& ctx, Group g, Meeting meeting,
                                                  void* dst, const void* src, std::size_t bytes,
                                                  int from) {
  const unsigned size = size_of(ctx, meeting), root = static_cast<unsigned>(from);
  const unsigned me = rank_of(ctx, meeting);
  const BroadcastBlocks blocks = {static_cast<const std::byte*>(src),
                                  bytes_of_block(bytes, size - 1), bytes, root, size};
  if (g.is_leader()) begin_round(ctx, meeting, Round::kPlain);
  g.sync();
  bool failed = false;
  if (me == root) {
    copy_own(g, dst, src, bytes);
    failed = !send_pieces(ctx, g, meeting, Round::kPlain, dst, blocks);
  } else if (g.is_leader()) {
    failed = !await_message(ctx, meeting, root, 0);
  }
  if (g.any(failed)) return false;
  std::byte* const mine = static_cast<std::byte*>(dst) + (me == root ? 0 : blocks.first(me));
  return exchange(ctx, g, meeting, Round::kPlain, mine, ExceptToRoot{mine, blocks.bytes(me), root},
                  0);
}

// Each member gets its piece of the source; what comes from a member is its block of `dst`. Fewer
// bytes than `direct_from`, at most a slot's, go by a turn, as words where they can.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool exchange_blocks(const Context& ctx, Group g, Meeting meeting,
                                              void* dst, Pieces pieces, std::uint64_t direct_from) {
  constexpr Round kRound = Round::kTurnOfWords;
  const unsigned me = rank_of(ctx, meeting);
  const std::size_t bytes = pieces.each;
  std::byte* const blocks = static_cast<std::byte*>(dst);
  copy_own(g, blocks + me * bytes, pieces.src + me * pieces.stride, bytes);
  if (bytes >= direct_from) {
    return exchange(ctx, g, meeting, Round::kPlain, blocks + me * bytes, pieces, 0);
  }
  if (!take_turn(ctx, g, meeting, kRound, pieces, bytes)) return false;
  const Arrived others = arrived(ctx, meeting, kRound, bytes);
  for (unsigned rank = 0; rank < size_of(ctx, meeting); ++rank) {
    if (rank != me) copy_own(g, blocks + rank * bytes, others.of(rank), bytes);
  }
  end_turn(ctx, g, meeting, kRound, bytes);
  return true;
}

// What comes from each member is its block of `dst`.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool gather_by_doubling(const Context& ctx, Group g, Meeting meeting,
                                                 void* dst, const void* src, std::size_t bytes) {
  if (!take_doubling_turn(ctx, g, meeting, src, bytes)) return false;
  const Arrived all = arrived_by_doubling(ctx, meeting, bytes);
  for (unsigned rank = 0; rank < size_of(ctx, meeting); ++rank)
    copy_own(g, static_cast<std::byte*>(dst) + rank * bytes, all.of(rank), bytes);
  end_turn(ctx, g, meeting, Round::kTurn, bytes);
  return true;
}

// The same by nodes.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool gather_by_nodes(const Context& ctx, Group g, Meeting meeting,
                                              void* dst, const void* src, std::size_t bytes) {
  std::byte* const blocks = static_cast<std::byte*>(dst);
  copy_own(g, blocks + rank_of(ctx, meeting) * bytes, src, bytes);
  return spread_by_nodes(ctx, g, meeting, {blocks, bytes, false}, false);
}

}  // namespace detail

// `bytes` of `src` on member `root` go to `dst` on all members, the root too. Returns a
// chimex_status.
template <class Group>
CHIME_DEVICE int broadcastmem(const Context& ctx, Group g, chime_team_t team, void* dst,
                              const void* src, std::size_t bytes, int root) {
  const abi::Team* const found = detail::find_team(ctx, team);
  const bool is_root = found != nullptr && found->my_rank == root;  // only its source counts
  return detail::collective(
      ctx, g, {team, Operation::kBroadcast, dst, src, bytes, bytes, is_root ? bytes : 0, root},
      [&](detail::Meeting meeting) {
        if (bytes >= detail::team_of(ctx, team).switch_at.broadcast)
          return detail::broadcast_by_blocks(ctx, g, meeting, dst, src, bytes, root);
        return detail::broadcast_by_tree(ctx, g, meeting, dst, src, bytes, root);
      });
}

// `bytes` of each member, in the order of ranks.
template <class Group>
CHIME_DEVICE int fcollectmem(const Context& ctx, Group g, chime_team_t team, void* dst,
                             const void* src, std::size_t bytes) {
  return detail::collective(
      ctx, g,
      {team, Operation::kFcollect, dst, src, bytes, detail::bytes_of_all(ctx, team, bytes), bytes},
      [&](detail::Meeting meeting) {
        if (detail::goes_by_multimem(ctx, team, abi::kFcollectByMultimem))
          return detail::gather_by_multimem(ctx, g, meeting, dst, src, bytes);
        if (bytes >= detail::team_of(ctx, team).switch_at.fcollect_by_nodes) {
          if (!detail::know_nodes(ctx, g, meeting)) return false;
          if (detail::node_members_of(ctx, meeting) != 0)
            return detail::gather_by_nodes(ctx, g, meeting, dst, src, bytes);
        }
        const bool is_few = bytes < detail::team_of(ctx, team).switch_at.fcollect;
        if (is_few && detail::is_doubled(ctx, meeting, bytes))
          return detail::gather_by_doubling(ctx, g, meeting, dst, src, bytes);
        return detail::exchange_blocks(ctx, g, meeting, dst, detail::whole(src, bytes),
                                       detail::team_of(ctx, team).switch_at.fcollect);
      });
}

// `bytes` from each member to each.
template <class Group>
CHIME_DEVICE int alltoallmem(const Context& ctx, Group g, chime_team_t team, void* dst,
                             const void* src, std::size_t bytes) {
  const std::size_t all = detail::bytes_of_all(ctx, team, bytes);
  return detail::collective(ctx, g, {team, Operation::kAlltoall, dst, src, bytes, all, all},
                            [&](detail::Meeting meeting) {
                              const auto* const blocks = static_cast<const std::byte*>(src);
                              return detail::exchange_blocks(
                                  ctx, g, meeting, dst, {blocks, bytes, bytes, detail::kNoEnd},
                                  detail::team_of(ctx, team).switch_at.alltoall);
                            });
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_MOVE_CUH_
