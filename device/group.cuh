// Who performs an operation together: Thread, Warp and Block, as values.
//
// An operation is one template over the group. Every member calls it with the same arguments;
// member `rank()` of `size()` does its share. `sync()` is a barrier of the members that also orders
// memory among them; `any(p)` is a sync that tells every member whether `p` held for one of them.
#ifndef CHIME_DEVICE_GROUP_CUH_
#define CHIME_DEVICE_GROUP_CUH_

#include "chime/device/exec.cuh"

namespace chime {

// The calling thread alone. The only group of host code.
struct Thread {
  CHIME_DEVICE static constexpr unsigned rank() { return 0; }
  CHIME_DEVICE static constexpr unsigned size() { return 1; }
  CHIME_DEVICE static constexpr bool is_leader() { return true; }
  CHIME_DEVICE static constexpr void sync() {}
  CHIME_DEVICE static constexpr bool any(bool p) { return p; }
};

// All lanes of the calling thread's warp. The caller promises that none has ended and that all
// come. The last warp of a block may be partly filled; then those lanes are the group.
struct Warp {
  CHIME_DEVICE static unsigned rank() { return exec::lane_id(); }
  CHIME_DEVICE static unsigned size() {
    const unsigned rest = exec::block_threads() - exec::warp_id() * 32;
    return rest < 32 ? rest : 32;
  }
  CHIME_DEVICE static bool is_leader() { return rank() == 0; }
  CHIME_DEVICE static void sync() { exec::sync_warp(mask()); }
  CHIME_DEVICE static bool any(bool p) {
    const bool held = exec::any(mask(), p);
    sync();  // a vote orders no memory: without it only the lane that waited has acquired
    return held;
  }

 private:
  CHIME_DEVICE static unsigned mask() { return ~0u >> (32 - size()); }
};

// All threads of the calling thread's block. The caller promises that none has ended and that all
// come. (A barrier would count ended ones out; their share of the work would be left undone.)
struct Block {
  CHIME_DEVICE static unsigned rank() { return exec::thread_rank(); }
  CHIME_DEVICE static unsigned size() { return exec::block_threads(); }
  CHIME_DEVICE static bool is_leader() { return rank() == 0; }
  CHIME_DEVICE static void sync() { exec::sync_whole_block(); }
  CHIME_DEVICE static bool any(bool p) { return exec::sync_whole_block_or(p); }
};

}  // namespace chime

#endif  // CHIME_DEVICE_GROUP_CUH_
