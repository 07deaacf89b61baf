// A binomial tree of a team's members, by which a broadcast goes. Distances are counted from the
// root. A member's parent has its distance without the lowest bit, and its children one lower bit
// more.
#ifndef CHIME_DEVICE_COLL_BROADCAST_TREE_CUH_
#define CHIME_DEVICE_COLL_BROADCAST_TREE_CUH_

#include "chime/device/exec/exec.cuh"

namespace chime::detail {

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

#endif  // CHIME_DEVICE_COLL_BROADCAST_TREE_CUH_
