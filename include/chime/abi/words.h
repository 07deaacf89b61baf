// Words with several fields, and the functions that make and read them.
#ifndef CHIME_ABI_WORDS_H_
#define CHIME_ABI_WORDS_H_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/function.h"
#include "chime/cxx20.h"

namespace chime::abi {

// ---- Channels::route ----------------------------------------------------------------------------
// The path to a PE and the index of the first of its `slots` channels. 0: no path leads there.

inline constexpr unsigned kRoutePathShift = 28;
inline constexpr std::uint32_t kRouteIndexBits = (1u << kRoutePathShift) - 1;
CHIME_ABI_FN std::uint32_t route_word(Path path, std::uint32_t first) {
  return static_cast<std::uint32_t>(path) << kRoutePathShift | first;
}
CHIME_ABI_FN Path path_of_route(std::uint32_t word) {
  return static_cast<Path>(word >> kRoutePathShift);
}
CHIME_ABI_FN std::uint32_t first_of_route(std::uint32_t word) { return word & kRouteIndexBits; }

// ---- Openings::answers --------------------------------------------------------------------------
// The path to a PE and the place of its channels: as a route, but for all contexts.

CHIME_ABI_FN std::uint32_t answer_word(Path path, std::uint32_t place) {
  return route_word(path, place);
}
CHIME_ABI_FN Path path_of_answer(std::uint32_t answer) { return path_of_route(answer); }
CHIME_ABI_FN std::uint32_t place_of_answer(std::uint32_t answer) { return first_of_route(answer); }

// ---- Producer::ready ----------------------------------------------------------------------------
// The index of the next request, the tail of the last one, and kOwed. A completion names only a
// request's first unit: `done` lags behind by the tail when everything is complete.

CHIME_ABI_FN std::uint64_t ready_word(std::uint64_t end, unsigned tail) {
  return end | static_cast<std::uint64_t>(tail) << kTailShift;
}
CHIME_ABI_FN unsigned tail_of(std::uint64_t ready) {
  return static_cast<unsigned>(ready >> kTailShift) & kMostTail;
}

// ---- Producer::announced: announcements that a quiet need not wait for --------------------------
// The `units` before unit `end` are announcements of meetings, and nothing else. That stays true,
// so a thread may read it at any time, in any order.

inline constexpr std::uint64_t kMostAnnounced = 255;  // more are not noted

CHIME_ABI_FN std::uint64_t announced_word(std::uint64_t end, std::uint64_t units) {
  return end << 8 | (units < kMostAnnounced ? units : kMostAnnounced);
}
CHIME_ABI_FN std::uint64_t announced_end(std::uint64_t announced) { return announced >> 8; }
CHIME_ABI_FN std::uint64_t announced_units(std::uint64_t announced) { return announced & 255; }

// ---- Progress::status: why a channel is out of use ----------------------------------------------

CHIME_ABI_FN std::uint32_t status_word(Stop stop, std::uint32_t syndrome = 0) {
  return static_cast<std::uint32_t>(stop) << 8 | (syndrome & 0xff);
}
CHIME_ABI_FN Stop stop_of(std::uint32_t status) { return static_cast<Stop>(status >> 8); }

// ---- NicStaging::busy ---------------------------------------------------------------------------
// Free, taken by a thread, or left to the NIC: by a thread that failed while a request on the slot
// was in flight, until the NIC has ended that request. `channel`: the index in its pool.

inline constexpr std::uint64_t kNicSlotFree = 0, kNicSlotTaken = 1;
inline constexpr std::uint64_t kNicSlotLeft = 1ull << 63;
CHIME_ABI_FN std::uint64_t nic_left_slot(std::uint64_t channel, std::uint64_t target) {
  return kNicSlotLeft | channel << 32 | (target & 0xffffffff);
}
CHIME_ABI_FN std::uint64_t nic_channel_of_left_slot(std::uint64_t word) {
  return (word & ~kNicSlotLeft) >> 32;
}
// `through`: how far the channel's requests are complete, failed or flushed.
CHIME_ABI_FN bool nic_left_slot_is_free(std::uint64_t word, std::uint64_t through) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(through) -
                                   static_cast<std::uint32_t>(word)) >= 0;
}

// ---- Teams --------------------------------------------------------------------------------------

// A chime_team_t: bits 0-11 the index of the team's entry, 12-19 the lane, 20-30 a generation,
// which tells the team from those that had the index before. The same on all members. Negative: no
// team.

inline constexpr int kTeamIndexBits = 12, kTeamLaneBits = 8, kTeamGenerationBits = 11;
inline constexpr std::int32_t kMostTeams = 1 << kTeamIndexBits;
inline constexpr std::int32_t kMostTeamLanes = 1 << kTeamLaneBits;
inline constexpr std::int32_t kTeamLaneMask = (kMostTeamLanes - 1) << kTeamIndexBits;
// Teams that the program makes have 1 and up; those that exist from the start have 0.
inline constexpr std::int32_t kLastTeamGeneration = (1 << kTeamGenerationBits) - 1;

CHIME_ABI_FN std::int32_t team_handle(std::int32_t index, std::int32_t generation) {
  return index | generation << (kTeamIndexBits + kTeamLaneBits);
}
CHIME_ABI_FN std::int32_t team_index(std::int32_t team) { return team & (kMostTeams - 1); }
CHIME_ABI_FN std::int32_t team_lane(std::int32_t team) {
  return (team & kTeamLaneMask) >> kTeamIndexBits;
}
CHIME_ABI_FN std::int32_t team_generation(std::int32_t team) {
  return team >> (kTeamIndexBits + kTeamLaneBits);
}
// The handle of the same team's lane 0.
CHIME_ABI_FN std::int32_t team_without_lane(std::int32_t team) { return team & ~kTeamLaneMask; }

// SyncArea::call in a checked job: the operation, its root (0: it has none), and of a reduction
// operation and type, of an alltoallv the element's bytes, up to 24 bits.
CHIME_ABI_FN std::uint64_t call_word(std::uint32_t operation, std::uint32_t variant,
                                     std::int32_t root) {
  return (operation & 0xff) | (variant & 0xffffff) << 8 | static_cast<std::uint64_t>(root) << 32;
}
CHIME_ABI_FN std::uint32_t operation_of_call(std::uint64_t call) {
  return static_cast<std::uint32_t>(call & 0xff);
}
CHIME_ABI_FN std::int32_t root_of_call(std::uint64_t call) {
  return static_cast<std::int32_t>(call >> 32);
}

// SyncArea::failed: a chimex_status, and the PE to blame; -1: none is.
CHIME_ABI_FN std::uint64_t team_failure(std::int32_t status, std::int32_t pe) {
  return static_cast<std::uint32_t>(status) | static_cast<std::uint64_t>(pe + 1) << 32;
}
CHIME_ABI_FN std::int32_t status_of_failure(std::uint64_t failure) {
  return static_cast<std::int32_t>(failure);
}
CHIME_ABI_FN std::int32_t pe_of_failure(std::uint64_t failure) {
  return static_cast<std::int32_t>(failure >> 32) - 1;
}

}  // namespace chime::abi

#endif  // CHIME_ABI_WORDS_H_
