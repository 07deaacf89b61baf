// A team of PEs that meet: its members, and the words by which they do.
#ifndef CHIME_ABI_TEAM_H_
#define CHIME_ABI_TEAM_H_

#include <cstddef>
#include <cstdint>

#include "chime/cxx20.h"

namespace chime::abi {

// Barrier and sync words of a team, at the same offset in each member's heap. Those of all PEs are
// at its start, so that peers find them without a message. Monotone counters: round r of the n-th
// sync is done when flags[r] >= n. `epoch` is local to its PE.
inline constexpr int kMaxSyncRounds = 32;  // dissemination over up to 2^32 PEs
struct alignas(128) SyncArea {
  std::uint64_t epoch;  // owner: the PE itself, one sync at a time
  std::uint64_t pad[15];
  struct alignas(64) Flag {
    std::uint64_t arrived;
    std::uint64_t pad[7];
  } flags[kMaxSyncRounds];
};
inline constexpr std::size_t kHeapReserved =
    64 * 1024;  // bytes at the heap's start that belong to Chime
static_assert(sizeof(SyncArea) <= kHeapReserved && offsetof(SyncArea, flags) == 128);

// Owner: the host.
struct Team {
  std::int32_t my_rank = -1;          // among the members
  std::int32_t size = 0;              // members
  const std::int32_t* pes = nullptr;  // [size] the PE of each; null: rank r is PE r
  SyncArea* sync = nullptr;           // here
};
static_assert(sizeof(Team) == 24);

}  // namespace chime::abi

#endif  // CHIME_ABI_TEAM_H_
