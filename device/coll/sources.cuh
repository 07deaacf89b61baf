// Sources that the members of a team read where they are, where all map each other.
//
// Each member says in a turn where in its heap its source is, or that it can not take part; so all
// decide alike. The turn's arrivals order what the program has stored there before the call: none
// goes as words. A source may change again when its owner has heard from all members after they
// read it: any later round of the call does. A member whose wait in that round has failed knows
// nothing of the others, which may end well: the contract leaves `src` to them then.
#ifndef CHIME_DEVICE_COLL_SOURCES_CUH_
#define CHIME_DEVICE_COLL_SOURCES_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/context.h"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/lane.cuh"
#include "chime/device/coll/message.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/route.cuh"

namespace chime::detail {

struct Source {
  const std::byte* data;
  std::size_t bytes;
  bool stays = true;  // until all have read it
};

// In place of an offset in the heap.
inline constexpr std::uint64_t kNotReached = ~std::uint64_t{0};

// Where the members' sources are mapped here: in the PE's own slot, which no other PE uses.
CHIME_DEVICE const std::byte** places_of_sources(const Context& ctx, Meeting meeting) {
  return reinterpret_cast<const std::byte**>(slot_of(ctx, meeting, rank_of(ctx, meeting)));
}

// Whether a source needs more turns than the one that says where it is. The same on all members.
CHIME_DEVICE bool is_long(const Context& ctx, Meeting meeting, std::size_t bytes) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const std::size_t size = size_of(ctx, meeting);
  return size > 1 && bytes > size * team.slot_bytes && size * sizeof(std::byte*) <= team.slot_bytes;
}

CHIME_DEVICE bool maps_all(const Context& ctx, Meeting meeting) {
  for (unsigned i = size_of(ctx, meeting) - 1; i-- > 0;) {
    if (heap_of_member(ctx, meeting, other_member(ctx, meeting, i)) == nullptr) return false;
  }
  return true;
}

// By the leader. False if a member can not take part.
CHIME_DEVICE bool note_places(const Context& ctx, Meeting meeting, const Arrived& offsets) {
  const std::byte** const places = places_of_sources(ctx, meeting);
  for (unsigned i = size_of(ctx, meeting) - 1; i-- > 0;) {
    const unsigned rank = other_member(ctx, meeting, i);
    std::uint64_t offset = 0;
    memcpy(&offset, offsets.of(rank), sizeof(offset));
    if (offset == kNotReached) return false;
    places[rank] = heap_of_member(ctx, meeting, rank) + offset;
  }
  return meeting.area(ctx).call != kNotReached;
}

enum class Sharing {
  kFailed,  // which is recorded
  kDone,    // all members may read all sources where they are
  kRefused
};

// A turn, by which all members learn the same.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE Sharing share_sources(const Context& ctx, Group g, Meeting meeting,
                                               Source source) {
  std::uint64_t& mine = meeting.area(ctx).call;
  if (g.is_leader()) {
    const bool takes_part = source.stays && is_in_heap(ctx, source.data, source.bytes);
    mine = takes_part && maps_all(ctx, meeting) ? heap_offset(ctx, source.data) : kNotReached;
  }
  if (!take_turn(ctx, g, meeting, Round::kTurn, whole(&mine, sizeof(mine)), sizeof(mine)))
    return Sharing::kFailed;
  bool is_left_out = false;
  if (g.is_leader()) {
    const Arrived offsets = arrived(ctx, meeting, Round::kTurn, sizeof(mine));
    is_left_out = !note_places(ctx, meeting, offsets);
  }
  const bool is_refused = g.any(is_left_out);
  end_turn(ctx, g, meeting, Round::kTurn, sizeof(mine));
  return is_refused ? Sharing::kRefused : Sharing::kDone;
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_SOURCES_CUH_
