// Teams in kernels: where the caller stands in one, which PE a member is, and barriers of the
// members. The handle finds the team in the PE's table (abi/team.h), which the host fills.
#ifndef CHIME_DEVICE_TEAM_CUH_
#define CHIME_DEVICE_TEAM_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/abi/words.h"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/coll/members.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"
#include "chime/device/rma.cuh"
#include "chime/types.h"

namespace chime {
namespace detail {

// The answer where there is no such team, member or rank.
inline constexpr int kNoMember = -1;

CHIME_DEVICE Failure team_refusal(Operation operation, chime_team_t team) {
  // It exists, but its members may not be known yet (host/ops/teams/teams.cpp).
  const bool is_unknown = team == CHIMEX_TEAM_SAME_MYPE_NODE;
  return {.status = is_unknown ? CHIMEX_ERR_UNSUPPORTED : CHIMEX_ERR_INVALID,
          .operation = operation,
          .fault = Fault::kTeam,
          .expected = static_cast<std::uint64_t>(static_cast<std::int64_t>(team))};
}

// The team; null: CHIME_TEAM_INVALID, or an error, for this PE is in no such team.
CHIME_DEVICE const abi::Team* team_or_fail(const Context& ctx, Operation operation,
                                           chime_team_t team) {
  need_filled(ctx);
  if (team == CHIME_TEAM_INVALID) return nullptr;
  const abi::Team* const found = find_team(ctx, team);
  if (found == nullptr) fail(ctx, team_refusal(operation, team));
  return found;
}

// By all members of the group: the status that the call returns.
template <class Group>
CHIME_DEVICE int meet_in(const Context& ctx, Group g, chime_team_t team, Operation operation) {
  need_filled(ctx);
  if (find_team(ctx, team) != nullptr) return meet(ctx, g, team, operation);
  const Failure refusal = team_refusal(operation, team);
  if (g.is_leader()) record(ctx, refusal);
  leave(ctx);
  return refusal.status;
}
// The same out of line, for a kernel that does more than meet.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE int meet_apart(const Context& ctx, Group g, chime_team_t team,
                                        Operation operation) {
  return meet_in(ctx, g, team, operation);
}

}  // namespace detail

CHIME_DEVICE int team_my_pe(const Context& ctx, chime_team_t team) {
  const abi::Team* const found = detail::team_or_fail(ctx, Operation::kTeamMyPe, team);
  return found == nullptr ? detail::kNoMember : found->my_rank;
}

CHIME_DEVICE int team_n_pes(const Context& ctx, chime_team_t team) {
  const abi::Team* const found = detail::team_or_fail(ctx, Operation::kTeamNPes, team);
  return found == nullptr ? detail::kNoMember : found->size;
}

CHIME_DEVICE int team_translate_pe(const Context& ctx, chime_team_t team, int rank,
                                   chime_team_t other) {
  const Operation operation = Operation::kTeamTranslatePe;
  const abi::Team* const from = detail::team_or_fail(ctx, operation, team);
  const abi::Team* const to = detail::team_or_fail(ctx, operation, other);
  if (from == nullptr || to == nullptr || rank < 0 || rank >= from->size) return detail::kNoMember;
  return detail::rank_in(*to, detail::pe_of(*from, static_cast<unsigned>(rank)));
}

// The handle of another lane of the team; CHIME_TEAM_INVALID where there is no such lane. Looks up
// nothing: what is no team is refused by the call that uses the handle.
CHIME_DEVICE chime_team_t team_lane(const Context& ctx, chime_team_t team, int lane) {
  if (team < 0 || lane < 0 || lane >= ctx.teams.lanes) return CHIME_TEAM_INVALID;
  return abi::team_without_lane(team) | lane << abi::kTeamIndexBits;
}

// Where member `rank` of the team has symmetric memory `dst`, if loads and stores reach it; null:
// they do not, or there is no such member.
CHIME_DEVICE void* team_ptr(const Context& ctx, chime_team_t team, const void* dst, int rank) {
  const abi::Team* const found = detail::team_or_fail(ctx, Operation::kTeamPtr, team);
  if (found == nullptr || rank < 0 || rank >= found->size) return nullptr;
  return ptr(ctx, static_cast<std::byte*>(const_cast<void*>(dst)),
             detail::pe_of(*found, static_cast<unsigned>(rank)));
}

// barrier_all and sync_all among the members of a team, in the lane that the handle names. Return a
// chimex_status.
template <class Group>
CHIME_DEVICE int team_barrier(const Context& ctx, Group g, chime_team_t team) {
  return detail::meet_in(ctx, g, team, Operation::kBarrier);
}
template <class Group>
CHIME_DEVICE int team_sync(const Context& ctx, Group g, chime_team_t team) {
  return detail::meet_in(ctx, g, team, Operation::kTeamSync);
}

}  // namespace chime

#endif  // CHIME_DEVICE_TEAM_CUH_
