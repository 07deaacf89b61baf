// Who tells whom in a sync of a team (barrier.cuh).
#ifndef CHIME_DEVICE_COLL_MEMBERS_CUH_
#define CHIME_DEVICE_COLL_MEMBERS_CUH_

#include "chime/abi/context.h"
#include "chime/device/exec/exec.cuh"

namespace chime::detail {

CHIME_DEVICE int pe_of(const abi::Team& team, unsigned rank) {
  return team.pes == nullptr ? static_cast<int>(rank) : team.pes[rank];
}

// The member 2^round after this PE, or before it.
CHIME_DEVICE int pe_after(const abi::Team& team, int round) {
  const auto size = static_cast<unsigned>(team.size), me = static_cast<unsigned>(team.my_rank);
  return pe_of(team, (me + (1u << round)) % size);
}
CHIME_DEVICE int pe_before(const abi::Team& team, int round) {
  const auto size = static_cast<unsigned>(team.size), me = static_cast<unsigned>(team.my_rank);
  return pe_of(team, (me + size - (1u << round)) % size);
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_MEMBERS_CUH_
