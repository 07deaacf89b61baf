// Collectives that move data as it is: to where it belongs at once, for a program has its
// destination ready on all members before one of them calls.
#ifndef CHIME_DEVICE_COLL_MOVE_CUH_
#define CHIME_DEVICE_COLL_MOVE_CUH_

#include <cstddef>
#include <cstring>

#include "chime/device/coll/exchange.cuh"
#include "chime/device/copy.cuh"

namespace chime {
namespace detail {

// The PE's own share.
template <class Group>
CHIME_DEVICE void copy_own(Group g, void* dst, const void* src, std::size_t bytes) {
  if (dst != src && bytes != 0) copy_from_peer(g, dst, src, bytes);
}

// The parent of `distance`, which is not 0, in a binomial tree: without its lowest bit. Its
// children add a lower bit.
CHIME_DEVICE unsigned lowest_one(unsigned distance) { return distance & (0u - distance); }

// Distances are counted from the root.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool broadcast_all(const Context& ctx, Group g, Meeting meeting, void* dst,
                                            const void* src, std::size_t bytes, int root) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const auto size = static_cast<unsigned>(team.size), from = static_cast<unsigned>(root);
  const unsigned distance = (static_cast<unsigned>(team.my_rank) + size - from) % size;
  if (g.is_leader()) begin_round(ctx, meeting);
  g.sync();
  bool failed = false;
  if (distance != 0) {
    const unsigned parent = (distance - lowest_one(distance) + from) % size;
    if (g.is_leader()) failed = !await_message(ctx, meeting, parent);
    if (g.any(failed)) return false;
  } else {
    copy_own(g, dst, src, bytes);
  }
  const void* const source = distance == 0 ? src : dst;
  unsigned step = distance == 0 ? 1 : lowest_one(distance);
  while (distance == 0 && step < size) step *= 2;
  while ((step /= 2) != 0) {
    if (distance + step >= size) continue;
    const unsigned child = (distance + step + from) % size;
    if (!send_message(ctx, g, meeting, {child, {dst, source, bytes, Until::kPosted}, false}))
      return false;
  }
  return true;
}

// Member r's block goes to block r of all.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool gather_all(const Context& ctx, Group g, Meeting meeting, void* dst,
                                         const void* src, std::size_t bytes) {
  const auto me = static_cast<unsigned>(team_of(ctx, meeting.handle).my_rank);
  std::byte* const block = static_cast<std::byte*>(dst) + me * bytes;
  copy_own(g, block, src, bytes);
  return exchange_with_all(ctx, g, meeting, begin_round, [&](unsigned rank) {
    return Message{rank, {block, src, bytes, Until::kPosted}, false};
  });
}

// Block r goes to member r, as the block of this PE's rank.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool transpose_all(const Context& ctx, Group g, Meeting meeting, void* dst,
                                            const void* src, std::size_t bytes) {
  const auto me = static_cast<unsigned>(team_of(ctx, meeting.handle).my_rank);
  std::byte* const block = static_cast<std::byte*>(dst) + me * bytes;
  const auto* const blocks = static_cast<const std::byte*>(src);
  copy_own(g, block, blocks + me * bytes, bytes);
  return exchange_with_all(ctx, g, meeting, begin_round, [&](unsigned rank) {
    return Message{rank, {block, blocks + rank * bytes, bytes, Until::kPosted}, false};
  });
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
      ctx, g, {team, Operation::kBroadcast, dst, src, bytes, 1, is_root ? 1u : 0u, root},
      [&](detail::Meeting meeting) {
        return detail::broadcast_all(ctx, g, meeting, dst, src, bytes, root);
      });
}

// `bytes` of each member, in the order of ranks.
template <class Group>
CHIME_DEVICE int fcollectmem(const Context& ctx, Group g, chime_team_t team, void* dst,
                             const void* src, std::size_t bytes) {
  return detail::collective(
      ctx, g, {team, Operation::kFcollect, dst, src, bytes, detail::members_of(ctx, team)},
      [&](detail::Meeting meeting) {
        return detail::gather_all(ctx, g, meeting, dst, src, bytes);
      });
}

// `bytes` from each member to each.
template <class Group>
CHIME_DEVICE int alltoallmem(const Context& ctx, Group g, chime_team_t team, void* dst,
                             const void* src, std::size_t bytes) {
  return detail::collective(ctx, g,
                            {team, Operation::kAlltoall, dst, src, bytes,
                             detail::members_of(ctx, team), detail::members_of(ctx, team)},
                            [&](detail::Meeting meeting) {
                              return detail::transpose_all(ctx, g, meeting, dst, src, bytes);
                            });
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_MOVE_CUH_
