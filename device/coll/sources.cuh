// Long sources of a team's members: each member reads a block of all, or by nodes of its node's.
//
// Each member says in a turn where in its heap its source is, or that it can not take part; so all
// decide alike. The turn's arrivals order what the program has stored there before the call: none
// goes as words. Where all map each other, sources stay where they are. A source may change again
// when its owner has heard from all that have read it: any later round of the call does, and by
// nodes one of the node's members. A member whose wait in that round has failed knows nothing of
// the others, which may end well: the contract leaves `src` to them then.
//
// Elsewhere each member's block of all other sources comes to its destination: in one round where
// that is no source itself, and in place in parts, to where the sources of earlier parts were.
#ifndef CHIME_DEVICE_COLL_SOURCES_CUH_
#define CHIME_DEVICE_COLL_SOURCES_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/coll/combine.cuh"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/lane.cuh"
#include "chime/device/coll/message.cuh"
#include "chime/device/coll/nodes.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/route.cuh"

namespace chime::detail {

// When a destination may take other members' blocks.
enum class Room { kNever, kAsSourcesLeave, kAtOnce };

struct Source {
  const std::byte* data;
  std::size_t bytes;
  bool stays;  // until all have read it
  Room room;
  bool by_nodes = false;     // only members of this PE's node read it (nodes.cuh)
  bool by_multimem = false;  // this member can load all members' sources by one address
};

// What a member says of its source: an offset in the heap, or kNotReached, and what room there is.
inline constexpr std::uint64_t kRoomAtOnce = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kRoomLater = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kByMultimem = std::uint64_t{1} << 61;
inline constexpr std::uint64_t kNotReached = kByMultimem - 1;

CHIME_DEVICE std::uint64_t word_of(Room room) {
  if (room == Room::kNever) return 0;
  return room == Room::kAtOnce ? kRoomAtOnce | kRoomLater : kRoomLater;
}

// Where the members' sources are here: in room for what words bring, of which each member has 16
// bytes or more. This PE alone writes there, and the turn brings no words.
CHIME_DEVICE const std::byte** places_of_sources(const Context& ctx, Meeting meeting) {
  return reinterpret_cast<const std::byte**>(unpacked_of(ctx, meeting, 0));
}

enum class Sharing : unsigned {
  kFailed,          // which is recorded
  kMapped,          // all members may read all sources where they are
  kAlike,           // and by one multicast address
  kStaged,          // all members' destinations may take blocks at once
  kInPlace,         // as sources leave
  kByNodes,         // as kMapped on each node, and destinations may take blocks at once
  kByNodesInPlace,  // the same, as sources leave
  kRefused
};

// The members that read this PE's source: `count` from `first` on, this PE too.
CHIME_DEVICE RankGroup readers_of(const Context& ctx, Meeting meeting, bool by_nodes) {
  if (!by_nodes) return {0, size_of(ctx, meeting)};
  const unsigned each = node_members_of(ctx, meeting);
  return {rank_of(ctx, meeting) / each * each, each};
}

CHIME_DEVICE bool maps(const Context& ctx, Meeting meeting, RankGroup members) {
  for (unsigned rank = members.first; rank < members.first + members.count; ++rank) {
    if (rank != rank_of(ctx, meeting) && heap_of_member(ctx, meeting, rank) == nullptr)
      return false;
  }
  return true;
}

CHIME_DEVICE std::uint64_t place_of(const Context& ctx, Meeting meeting, const Source& source) {
  const bool is_reached = source.stays && is_in_heap(ctx, source.data, source.bytes) &&
                          maps(ctx, meeting, readers_of(ctx, meeting, source.by_nodes));
  return (is_reached ? heap_offset(ctx, source.data) : kNotReached) | word_of(source.room) |
         (source.by_multimem ? kByMultimem : 0);
}

// By the leader: notes where sources are mapped.
CHIME_DEVICE Sharing decide_sharing(const Context& ctx, Meeting meeting, bool by_nodes) {
  const std::byte** const places = places_of_sources(ctx, meeting);
  const RankGroup readers = readers_of(ctx, meeting, by_nodes);
  const std::uint64_t mine = meeting.area(ctx).call;
  bool are_reached = (mine & kNotReached) != kNotReached;
  bool are_alike = are_reached && (mine & kByMultimem) != 0;
  std::uint64_t room = mine;
  for (unsigned i = size_of(ctx, meeting) - 1; i-- > 0;) {
    const unsigned rank = other_member(ctx, meeting, i);
    const std::uint64_t word = told_by(ctx, meeting, rank);
    are_reached = are_reached && (word & kNotReached) != kNotReached;
    are_alike = are_alike && word == mine;
    room &= word;
    if (are_reached && rank - readers.first < readers.count)
      places[rank] = heap_of_member(ctx, meeting, rank) + (word & kNotReached);
  }
  if (are_reached && !by_nodes) return are_alike ? Sharing::kAlike : Sharing::kMapped;
  if ((room & kRoomAtOnce) != 0) return are_reached ? Sharing::kByNodes : Sharing::kStaged;
  if ((room & kRoomLater) == 0) return Sharing::kRefused;
  return are_reached ? Sharing::kByNodesInPlace : Sharing::kInPlace;
}

// A turn, by which all members learn the same.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE Sharing share_sources(const Context& ctx, Group g, Meeting meeting,
                                               Source source) {
  if (g.is_leader()) meeting.area(ctx).call = place_of(ctx, meeting, source);
  if (!tell_all(ctx, g, meeting)) return Sharing::kFailed;
  unsigned sharing = 0;
  if (g.is_leader()) sharing = static_cast<unsigned>(decide_sharing(ctx, meeting, source.by_nodes));
  unsigned of_all = 0;
  for (unsigned bit = 1; bit <= static_cast<unsigned>(Sharing::kRefused); bit *= 2)
    of_all |= g.any((sharing & bit) != 0) ? bit : 0;
  end_turn(ctx, g, meeting, Round::kTurn, sizeof(std::uint64_t));
  return static_cast<Sharing>(of_all);
}

// Blocks for other members' destinations, in the order of their senders.
struct Staged {
  Pieces blocks;
  unsigned me;

  CHIME_DEVICE std::size_t bytes(unsigned rank) const { return blocks.bytes(rank); }
  CHIME_DEVICE Message prepare(unsigned rank, void* dst) const {
    const std::size_t place = Shares::dense_place(me, rank);
    return blocks.prepare(rank, static_cast<std::byte*>(dst) + place * blocks.each);
  }
};

// A round in which this PE's block of all other sources comes to `dst`, densely: it takes one block
// of `blocks.each` less than there are members.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool stage_sources(const Context& ctx, Group g, Meeting meeting,
                                            std::byte* dst, Pieces blocks) {
  return exchange(ctx, g, meeting, Round::kPlain, dst, Staged{blocks, rank_of(ctx, meeting)}, 0);
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_SOURCES_CUH_
