// The members of a team: which PE one is, from whom it hears in a meeting (barrier.cuh), and its
// place in the tree of a broadcast.
#ifndef CHIME_DEVICE_COLL_MEMBERS_CUH_
#define CHIME_DEVICE_COLL_MEMBERS_CUH_

#include "chime/abi/context.h"
#include "chime/abi/words.h"
#include "chime/device/exec/exec.cuh"

namespace chime::detail {

// The PE that is member `rank`. REQUIRES: there is one.
CHIME_DEVICE int pe_of(const abi::Team& team, unsigned rank) {
  if (team.pes != nullptr) return team.pes[rank];
  return team.start + static_cast<int>(rank) * team.stride;
}

// The rank of `pe` in the team; -1: it is no member. Looks through a list.
CHIME_DEVICE int rank_in(const abi::Team& team, int pe) {
  if (team.pes == nullptr) {
    const int steps = (pe - team.start) / team.stride;
    const bool is_member =
        steps >= 0 && steps < team.size && team.start + steps * team.stride == pe;
    return is_member ? steps : -1;
  }
  for (int rank = 0; rank < team.size; ++rank) {
    if (team.pes[rank] == pe) return rank;
  }
  return -1;
}

// The member so many ranks after this PE, or before it.
CHIME_DEVICE int pe_after(const abi::Team& team, unsigned distance) {
  const auto size = static_cast<unsigned>(team.size), me = static_cast<unsigned>(team.my_rank);
  return pe_of(team, (me + distance) % size);
}
CHIME_DEVICE int pe_before(const abi::Team& team, unsigned distance) {
  const auto size = static_cast<unsigned>(team.size), me = static_cast<unsigned>(team.my_rank);
  return pe_of(team, (me + size - distance) % size);
}

// The team of a handle, whatever its lane. REQUIRES: this PE is in it.
CHIME_DEVICE const abi::Team& team_of(const Context& ctx, std::int32_t team) {
  return ctx.teams.entries[abi::team_index(team)];
}

// The same; null: this PE is in no such team.
CHIME_DEVICE const abi::Team* find_team(const Context& ctx, std::int32_t team) {
  const std::int32_t index = abi::team_index(team);
  if (team < 0 || index >= ctx.teams.count || abi::team_lane(team) >= ctx.teams.lanes)
    return nullptr;
  const abi::Team* const found = ctx.teams.entries + index;
  return found->handle == abi::team_without_lane(team) ? found : nullptr;
}

// The binomial tree by which a broadcast goes. Distances are counted from the root. A member's
// parent has its distance without the lowest bit, and its children one lower bit more.
struct BroadcastTree {
  unsigned root, members;

  CHIME_DEVICE unsigned distance(unsigned rank) const { return (rank + members - root) % members; }
  CHIME_DEVICE unsigned rank(unsigned distance) const { return (distance + root) % members; }

  // REQUIRES: the distance is not 0.
  CHIME_DEVICE static unsigned step_to_parent(unsigned distance) {
    return distance & (0u - distance);
  }
  CHIME_DEVICE unsigned parent(unsigned distance) const {
    return rank(distance - step_to_parent(distance));
  }
};

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_MEMBERS_CUH_
