// The threads that submit together: lanes of a warp that post to the same channel at the same time.
//
// The thread API brings lanes together by chance: those that are at the call now and post as many
// units to the same channel. For a warp or block, and on the host, one thread posts alone.
#ifndef CHIME_DEVICE_CHANNEL_POSTERS_CUH_
#define CHIME_DEVICE_CHANNEL_POSTERS_CUH_

#include <cstdint>
#include <type_traits>

#include "chime/device/channel/channel.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/group.cuh"

namespace chime::channel {

// A thread that posts by itself, whatever its warp does. For rare operations: all groups share one
// copy of the code.
struct Alone {};

// The thread that posts for a group, which meets before and after.
struct Leader {
  CHIME_DEVICE static constexpr bool is_leader() { return true; }
  CHIME_DEVICE static constexpr void sync() {}
};

// One thread that posts by itself. It gives the answers of Posters as constants.
struct One {
  static constexpr bool kIsOne = true;
  CHIME_DEVICE static constexpr bool are_many() { return false; }
  CHIME_DEVICE static constexpr unsigned count() { return 1; }
  CHIME_DEVICE static constexpr unsigned rank() { return 0; }
  CHIME_DEVICE static constexpr bool is_leader() { return true; }
  CHIME_DEVICE static constexpr bool is_last() { return true; }
  CHIME_DEVICE static constexpr void sync() {}
  template <class T>
  CHIME_DEVICE static constexpr T from_leader(T value) {
    return value;
  }
};

struct Posters {
  static constexpr bool kIsOne = false;
  unsigned mask = 0;  // their lanes; 0: a host thread

  CHIME_DEVICE bool are_many() const { return (mask & (mask - 1)) != 0; }
  CHIME_DEVICE unsigned count() const { return exec::count_bits(mask | (mask == 0)); }
  CHIME_DEVICE unsigned rank() const { return exec::count_bits(before()); }
  CHIME_DEVICE bool is_leader() const { return before() == 0; }
  CHIME_DEVICE bool is_last() const { return (mask & exec::lanes_above()) == 0; }
  CHIME_DEVICE void sync() const {
    if (are_many()) exec::sync_warp(mask);
  }
  template <class T>
  CHIME_DEVICE T from_leader(T value) const {
    return are_many() ? exec::shfl(mask, value, static_cast<int>(exec::lowest_bit(mask))) : value;
  }

 private:
  CHIME_DEVICE unsigned before() const { return mask & exec::lanes_below(); }
};

// Posters of one group take equally many units, at most 3, so that a lane finds its own by its
// rank. kForElements: lanes that may take fewer units together, and continue by themselves.
// Channels lie at multiples of 128: 37 bits of the address distinguish those of one pool, and two
// bits remain for the number of units.
inline constexpr unsigned kForElements = 0;

template <class Group>
CHIME_DEVICE auto posters_to(Group, const Channel& channel, unsigned units) {
  if constexpr (std::is_same_v<Group, Thread>) {
    if (!exec::in_kernel()) return Posters{};
    const auto at = reinterpret_cast<std::uint64_t>(&channel);
    const auto key = static_cast<std::uint32_t>(at >> 5) | units;
    return Posters{exec::match_any(exec::active_mask(), key)};
  } else if constexpr (std::is_same_v<Group, Alone>) {
    return Posters{};  // rare: nvcc then makes more instructions and needs fewer registers
  } else {
    return One{};
  }
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_POSTERS_CUH_
