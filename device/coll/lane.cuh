// The memory in which the members of a team receive each other's data in a lane, at the same offset
// of each member's heap (README.md, "Collectives").
#ifndef CHIME_DEVICE_COLL_LANE_CUH_
#define CHIME_DEVICE_COLL_LANE_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/abi/words.h"
#include "chime/device/coll/meeting.cuh"
#include "chime/device/coll/members.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::detail {

CHIME_DEVICE std::size_t lane_number(const Context& ctx, std::int32_t handle) {
  return static_cast<std::size_t>(abi::team_index(handle) * ctx.teams.lanes +
                                  abi::team_lane(handle));
}

// The number of the last round in which member `rank` has stored it behind its data.
CHIME_DEVICE std::uint64_t* arrival_of(const Context& ctx, std::int32_t handle, unsigned rank) {
  std::byte* const lane = ctx.teams.arrivals + lane_number(ctx, handle) * ctx.teams.arrivals_bytes;
  return reinterpret_cast<std::uint64_t*>(lane) + rank;
}

// Members of each node, as all members have agreed; 0: calls do not go by node. REQUIRES: they have
// (nodes.cuh).
CHIME_DEVICE unsigned node_members_of(const Context& ctx, Meeting meeting) {
  const std::uint64_t none = team_of(ctx, meeting.handle).first_epoch + 1;
  return static_cast<unsigned>(meeting.area(ctx).nodes - none);
}

// The half of the scratch that this turn uses: a slot for each member, of which only this PE uses
// its own (but in a turn by doubling, whose messages lie densely over all slots), then words of
// each, then room for what words of each bring, which this PE alone writes.
CHIME_DEVICE std::byte* half_of(const Context& ctx, Meeting meeting) {
  std::byte* const lane =
      ctx.teams.scratch + lane_number(ctx, meeting.handle) * ctx.teams.scratch_bytes;
  return lane + (meeting.area(ctx).turn & 1) * (ctx.teams.scratch_bytes / 2);
}
CHIME_DEVICE std::byte* slot_of(const Context& ctx, Meeting meeting, unsigned rank) {
  return half_of(ctx, meeting) + std::size_t{rank} * team_of(ctx, meeting.handle).slot_bytes;
}
CHIME_DEVICE std::uint64_t* words_of(const Context& ctx, Meeting meeting, unsigned rank) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const std::size_t size = static_cast<unsigned>(team.size);
  return reinterpret_cast<std::uint64_t*>(half_of(ctx, meeting) + size * team.slot_bytes +
                                          std::size_t{rank} * team.words_bytes);
}
CHIME_DEVICE std::byte* unpacked_of(const Context& ctx, Meeting meeting, unsigned rank) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const std::size_t size = static_cast<unsigned>(team.size);
  return half_of(ctx, meeting) + size * (team.slot_bytes + team.words_bytes) +
         std::size_t{rank} * (team.words_bytes / 2);
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_LANE_CUH_
