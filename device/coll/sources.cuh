// Long sources of a team's members: each member reads a block of all.
//
// Each member says in a turn where in its heap its source is, or that it can not take part; so all
// decide alike. The turn's arrivals order what the program has stored there before the call: none
// goes as words. Where all map each other, sources stay where they are. A source may change again
// when its owner has heard from all members after they read it: any later round of the call does. A
// member whose wait in that round has failed knows nothing of the others, which may end well: the
// contract leaves `src` to them then.
//
// Elsewhere each member's block of all other sources comes to its destination: in one round where
// that is no source itself, and in place in parts, to where the sources of earlier parts were.
#ifndef CHIME_DEVICE_COLL_SOURCES_CUH_
#define CHIME_DEVICE_COLL_SOURCES_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/context.h"
#include "chime/device/coll/combine.cuh"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/lane.cuh"
#include "chime/device/coll/message.cuh"
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
};

// What a member says of its source: an offset in the heap, or kNotReached, and what room there is.
inline constexpr std::uint64_t kRoomAtOnce = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kRoomLater = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kNotReached = kRoomLater - 1;

CHIME_DEVICE std::uint64_t word_of(Room room) {
  if (room == Room::kNever) return 0;
  return room == Room::kAtOnce ? kRoomAtOnce | kRoomLater : kRoomLater;
}

// Where the members' sources are here: in the PE's own slot, which no other PE uses.
CHIME_DEVICE const std::byte** places_of_sources(const Context& ctx, Meeting meeting) {
  return reinterpret_cast<const std::byte**>(slot_of(ctx, meeting, rank_of(ctx, meeting)));
}

CHIME_DEVICE bool has_room_for_places(const Context& ctx, Meeting meeting) {
  return size_of(ctx, meeting) * sizeof(std::byte*) <= team_of(ctx, meeting.handle).slot_bytes;
}

CHIME_DEVICE bool maps_all(const Context& ctx, Meeting meeting) {
  if (!has_room_for_places(ctx, meeting)) return false;
  for (unsigned i = size_of(ctx, meeting) - 1; i-- > 0;) {
    if (heap_of_member(ctx, meeting, other_member(ctx, meeting, i)) == nullptr) return false;
  }
  return true;
}

enum class Sharing {
  kFailed,   // which is recorded
  kMapped,   // all members may read all sources where they are
  kStaged,   // all members' destinations may take blocks at once
  kInPlace,  // as sources leave
  kRefused
};

CHIME_DEVICE std::uint64_t place_of(const Context& ctx, Meeting meeting, const Source& source) {
  const bool is_reached = source.stays && is_in_heap(ctx, source.data, source.bytes);
  const std::uint64_t place =
      is_reached && maps_all(ctx, meeting) ? heap_offset(ctx, source.data) : kNotReached;
  return place | word_of(source.room);
}

// By the leader: notes where sources are mapped. By doubling, the words lie over the first member's
// own slot. It reads each word before it writes a place there. It writes places only if it maps all
// members: then no NIC still sends the words on.
CHIME_DEVICE Sharing decide_sharing(const Context& ctx, Meeting meeting, const Arrived& words) {
  const std::byte** const places = places_of_sources(ctx, meeting);
  const std::uint64_t mine = meeting.area(ctx).call;
  bool are_mapped = (mine & kNotReached) != kNotReached;
  std::uint64_t room = mine;
  for (unsigned i = size_of(ctx, meeting) - 1; i-- > 0;) {
    const unsigned rank = other_member(ctx, meeting, i);
    std::uint64_t word = 0;
    memcpy(&word, words.of(rank), sizeof(word));
    are_mapped = are_mapped && (word & kNotReached) != kNotReached;
    room &= word;
    if (are_mapped) places[rank] = heap_of_member(ctx, meeting, rank) + (word & kNotReached);
  }
  if (are_mapped) return Sharing::kMapped;
  if ((room & kRoomAtOnce) != 0) return Sharing::kStaged;
  return (room & kRoomLater) != 0 ? Sharing::kInPlace : Sharing::kRefused;
}

// A turn, by which all members learn the same.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE Sharing share_sources(const Context& ctx, Group g, Meeting meeting,
                                               Source source) {
  std::uint64_t& mine = meeting.area(ctx).call;
  if (g.is_leader()) mine = place_of(ctx, meeting, source);
  const bool doubled = is_doubled(ctx, meeting, sizeof(mine));
  const bool is_told =
      doubled ? take_doubling_turn(ctx, g, meeting, &mine, sizeof(mine))
              : take_turn(ctx, g, meeting, Round::kTurn, whole(&mine, sizeof(mine)), sizeof(mine));
  if (!is_told) return Sharing::kFailed;
  Sharing sharing = Sharing::kFailed;
  if (g.is_leader())
    sharing = decide_sharing(ctx, meeting,
                             doubled ? arrived_by_doubling(ctx, meeting, sizeof(mine))
                                     : arrived(ctx, meeting, Round::kTurn, sizeof(mine)));
  const bool are_mapped = g.any(sharing == Sharing::kMapped);
  const bool are_staged = g.any(sharing == Sharing::kStaged);
  const bool are_in_place = g.any(sharing == Sharing::kInPlace);
  end_turn(ctx, g, meeting, Round::kTurn, sizeof(mine));
  if (are_mapped) return Sharing::kMapped;
  if (are_staged) return Sharing::kStaged;
  return are_in_place ? Sharing::kInPlace : Sharing::kRefused;
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
