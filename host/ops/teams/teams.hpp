// The teams of the calling thread's PE: for host code that names one.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include "chime/abi/operation.h"
#include "chime/types.h"
#include "host/gpu/library_kernel.hpp"
#include "host/pe/pe.hpp"

namespace chime::host {

// The team, whatever its lane. Throws for what is none.
KnownTeam known_team(Runtime& runtime, Operation operation, chime_team_t team);

// A meeting of all PEs in the lane in which chime_barrier_all and chime_sync_all are.
inline bool is_meeting_of_all(chime_team_t team) { return team == CHIME_TEAM_WORLD; }

// A barrier (Operation::kBarrier) or sync (kTeamSync) of the team in the handle's lane. Throws what
// the meeting failed by, and what else is to be reported.
void meet_in_team(Operation operation, chime_team_t team);
// Any meeting. Throws what it failed by; what else is to be reported, the next call reports. So
// members that have met go on alike.
void meet_alone(const SyncCall& call);

// What a call asks for beside the new team's members. Where its arguments are wrong on this PE,
// why: it still meets the parent's members, which learn that the calls differ.
struct TeamRequest {
  int num_contexts = 0;
  std::exception_ptr refusal = {};
};

// A sync of the team. If it fails, the team ends on this PE, and it throws that.
void meet_or_remove(TeamTable& table, chime_team_t team);

// Throws where what the members (named in `members`) have in common has no place for `teams` more.
void need_room(const TeamTable& table, const TeamProposal& common, std::size_t teams,
               const std::string& members);

// Collective over the parent. Makes of its members those that have the ranks `start`, `start +
// stride`, ... (`size` of them) a team. CHIME_TEAM_INVALID on a PE that is none of them. Throws on
// all members alike, but where one does not come.
chime_team_t split_strided(chime_team_t parent, const Triplet& ranks, const TeamRequest& request);

// The same of a list of ranks.
chime_team_t split_list(chime_team_t parent, const std::vector<int>& ranks,
                        const TeamRequest& request);

// Collective over the parent, whose ranks are laid out in rows of `xrange`: the team of the calling
// PE's row, and the team of its column.
struct RowAndColumn {
  chime_team_t x, y;
};
RowAndColumn split_2d(chime_team_t parent, int xrange, const TeamRequest& x_request,
                      const TeamRequest& y_request);

// A name for a team that is to be made, by a PE that will be a member.
std::uint64_t make_team_id(Runtime& runtime);

// Collective over the team's members alone, each of which brings the id, how many they are and its
// rank. Throws on those that come, where others do not.
chime_team_t team_by_id(std::uint64_t id, int size, int my_rank, int num_contexts);

// Collective over the members of the team that live: makes them a team, in the order of their
// ranks. Throws on all of them alike, but where one does not come.
chime_team_t shrink_team(chime_team_t team, const TeamRequest& request);

// How many contexts the team was made for. Throws for what is no team.
int contexts_of(chime_team_t team);

// Collective over the team, whose handle names nothing any more. CHIME_TEAM_INVALID does nothing.
// Throws for a predefined team, and for what is none.
void destroy_team(chime_team_t team);

}  // namespace chime::host
