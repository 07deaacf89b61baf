// The predefined teams, as far as a PE's own tables know them: where the caller stands in one,
// which PE a member is, and barriers of those whose members can meet today.
//
// A kernel knows the members of WORLD and SHARED. It knows the size of NODE and the caller's number
// there. It knows SAME_MYPE_NODE only if all PEs run on one node. Any other question is an error.
// The host knows the PEs of its node as well (host/ops/teams.cpp).
#ifndef CHIME_DEVICE_TEAM_CUH_
#define CHIME_DEVICE_TEAM_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"
#include "chime/device/symmetric.cuh"
#include "chime/device/sync.cuh"
#include "chime/types.h"

namespace chime {
namespace detail {

CHIME_DEVICE bool team_exists(chime_team_t team) {
  return team >= CHIME_TEAM_WORLD && team <= CHIMEX_TEAM_SAME_MYPE_NODE;
}

CHIME_DEVICE Failure team_refusal(Operation operation, chime_team_t team) {
  return {.status = team_exists(team) ? CHIMEX_ERR_UNSUPPORTED : CHIMEX_ERR_INVALID,
          .operation = operation,
          .fault = Fault::kTeam,
          .expected = static_cast<std::uint64_t>(static_cast<std::int64_t>(team))};
}

CHIME_DEVICE bool is_shared(const Context& ctx, int pe) {
  return pe == ctx.pe.my_pe || exec::ld_settled(ctx.pe.peer_heap + pe) != nullptr;
}

// How many members of SHARED have numbers below `pe`.
CHIME_DEVICE int shared_below(const Context& ctx, int pe) {
  int count = 0;
  for (int other = 0; other < pe; ++other) count += is_shared(ctx, other) ? 1 : 0;
  return count;
}

// The member `rank` of SHARED. REQUIRES: there is one.
CHIME_DEVICE int shared_pe(const Context& ctx, int rank) {
  int pe = 0;
  while (!is_shared(ctx, pe) || rank-- > 0) ++pe;
  return pe;
}

CHIME_DEVICE bool is_one_node(const Context& ctx) { return ctx.pe.node_n_pes == ctx.pe.n_pes; }

// What is said of a member or a team: a number from 0, or one of these.
inline constexpr int kNoMember = -1, kNotKnown = -2;

CHIME_DEVICE int members_of(const Context& ctx, chime_team_t team) {
  need_filled(ctx);
  switch (team) {
    case CHIME_TEAM_WORLD:
      return ctx.pe.n_pes;
    case CHIME_TEAM_SHARED:
      return shared_below(ctx, ctx.pe.n_pes);
    case CHIMEX_TEAM_NODE:
      return ctx.pe.node_n_pes;
    case CHIMEX_TEAM_SAME_MYPE_NODE:
      return is_one_node(ctx) ? 1 : kNotKnown;
    case CHIME_TEAM_INVALID:
      return kNoMember;
  }
  return kNotKnown;
}

// The number in `team` of `pe`, a PE of the job.
CHIME_DEVICE int rank_of(const Context& ctx, chime_team_t team, int pe) {
  need_filled(ctx);
  const bool is_me = pe == ctx.pe.my_pe;
  switch (team) {
    case CHIME_TEAM_WORLD:
      return pe;
    case CHIME_TEAM_SHARED:
      return is_shared(ctx, pe) ? shared_below(ctx, pe) : kNoMember;
    case CHIMEX_TEAM_NODE:
      if (is_me) return ctx.pe.node_my_pe;
      if (ctx.pe.node_n_pes == 1) return kNoMember;
      return is_one_node(ctx) ? pe : kNotKnown;
    case CHIMEX_TEAM_SAME_MYPE_NODE:
      if (!is_one_node(ctx)) return kNotKnown;
      return is_me ? 0 : kNoMember;
    case CHIME_TEAM_INVALID:
      return kNoMember;
  }
  return kNotKnown;
}

// The PE of the job that is member `rank` of `team`.
CHIME_DEVICE int pe_of_rank(const Context& ctx, chime_team_t team, int rank) {
  const int size = members_of(ctx, team);
  if (size == kNotKnown) return kNotKnown;
  if (rank < 0 || rank >= size) return kNoMember;
  switch (team) {
    case CHIME_TEAM_SHARED:
      return shared_pe(ctx, rank);
    case CHIMEX_TEAM_NODE:
      if (rank == ctx.pe.node_my_pe) return ctx.pe.my_pe;
      return is_one_node(ctx) ? rank : kNotKnown;
    case CHIMEX_TEAM_SAME_MYPE_NODE:
      return ctx.pe.my_pe;
  }
  return rank;
}

// `found`, or -1 and an error where that is not known.
CHIME_DEVICE int known_or_fail(const Context& ctx, Operation operation, chime_team_t team,
                               int found) {
  if (found != kNotKnown) return found;
  fail(ctx, team_refusal(operation, team));
  return kNoMember;
}

enum class Meeting { kRefused, kAlone, kAll };

// All PEs have words by which they meet, and one PE needs none.
CHIME_DEVICE Meeting meeting_of(const Context& ctx, chime_team_t team) {
  if (!team_exists(team)) return Meeting::kRefused;
  const int size = members_of(ctx, team);
  if (size == ctx.pe.n_pes) return Meeting::kAll;
  return size == 1 ? Meeting::kAlone : Meeting::kRefused;
}

// The same for all members of the group. Which PEs are mapped may change when a PE is lost, so the
// group takes its leader's answer.
template <class Group>
CHIME_DEVICE Meeting agreed_meeting(const Context& ctx, Group g, chime_team_t team) {
  const Meeting seen = meeting_of(ctx, team);
  if (team != CHIME_TEAM_SHARED) return seen;
  if (g.any(g.is_leader() && seen == Meeting::kAll)) return Meeting::kAll;
  return g.any(g.is_leader() && seen == Meeting::kAlone) ? Meeting::kAlone : Meeting::kRefused;
}

// The status of a meeting of all PEs. Why one failed is in the record, not in the status.
template <class Group>
CHIME_DEVICE int meet_all(const Context& ctx, Group g, Operation operation) {
  return sync_group(ctx, g, operation) ? CHIMEX_OK : CHIMEX_ERR_ABORTED;
}

// By all members of the group: the status that the call returns.
template <class Group>
CHIME_DEVICE int refuse_team(const Context& ctx, Group g, Operation operation, chime_team_t team) {
  const Failure refusal = team_refusal(operation, team);
  if (g.is_leader()) record(ctx, refusal);
  leave(ctx);
  return refusal.status;
}

}  // namespace detail

CHIME_DEVICE int team_my_pe(const Context& ctx, chime_team_t team) {
  const int rank = detail::rank_of(ctx, team, ctx.pe.my_pe);
  return detail::known_or_fail(ctx, Operation::kTeamMyPe, team, rank);
}

CHIME_DEVICE int team_n_pes(const Context& ctx, chime_team_t team) {
  const int size = detail::members_of(ctx, team);
  return detail::known_or_fail(ctx, Operation::kTeamNPes, team, size);
}

CHIME_DEVICE int team_translate_pe(const Context& ctx, chime_team_t team, int rank,
                                   chime_team_t other) {
  const Operation operation = Operation::kTeamTranslatePe;
  if (team == CHIME_TEAM_INVALID || other == CHIME_TEAM_INVALID) return detail::kNoMember;
  const int found = detail::pe_of_rank(ctx, team, rank);
  const int pe = detail::known_or_fail(ctx, operation, team, found);
  if (pe < 0) return pe;
  return detail::known_or_fail(ctx, operation, other, detail::rank_of(ctx, other, pe));
}

template <class Group>
CHIME_DEVICE int team_barrier(const Context& ctx, Group g, chime_team_t team) {
  switch (detail::agreed_meeting(ctx, g, team)) {
    case detail::Meeting::kAll:
      return detail::meet_all(ctx, g, Operation::kBarrierAll);
    case detail::Meeting::kAlone:
      g.sync();
      detail::quiet_together(ctx, g);
      g.sync();
      return CHIMEX_OK;
    case detail::Meeting::kRefused:
      break;
  }
  return detail::refuse_team(ctx, g, Operation::kBarrier, team);
}

template <class Group>
CHIME_DEVICE int team_sync(const Context& ctx, Group g, chime_team_t team) {
  switch (detail::agreed_meeting(ctx, g, team)) {
    case detail::Meeting::kAll:
      return detail::meet_all(ctx, g, Operation::kSyncAll);
    case detail::Meeting::kAlone:
      g.sync();
      return CHIMEX_OK;
    case detail::Meeting::kRefused:
      break;
  }
  return detail::refuse_team(ctx, g, Operation::kTeamSync, team);
}

}  // namespace chime

#endif  // CHIME_DEVICE_TEAM_CUH_
