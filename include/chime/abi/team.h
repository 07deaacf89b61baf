// Teams: the PEs that meet, and the words by which they do. Their handles: words.h.
#ifndef CHIME_ABI_TEAM_H_
#define CHIME_ABI_TEAM_H_

#include <cstddef>
#include <cstdint>

#include "chime/cxx20.h"

namespace chime::abi {

// ---- Meetings -----------------------------------------------------------------------------------

// The words by which the members of a team meet in one lane, at the same offset of each member's
// heap, so that peers find them without being told. Round r of the n-th meeting is done when
// flags[r] >= n: counters never go back, also when another team gets the area.
inline constexpr int kMaxSyncRounds = 32;  // of up to 2^32 PEs, or of 33 that meet directly
struct alignas(128) SyncArea {
  std::uint64_t epoch;  // of the last meeting; owner: the PE itself, one meeting at a time
  // In lane 0, team_failure() of the team's first call that failed, which is its last; 0: none has.
  // Likewise in the area in which members agree. Owner: the PE itself, by compare-and-swap.
  std::uint64_t failed;
  std::uint32_t in_use;  // in a checked job: 1 while a thread meets here; by exchange
  // 1: since the last fence before words, others have stored where this PE's program reads
  // (device/coll/exchange.cuh). Owner: the PE itself, one call at a time.
  std::uint32_t owes_fence;
  // Numbers of the last round, and of the last turn, of data that members sent each other
  // (device/coll/message.cuh). Owner: the PE itself, one call at a time.
  std::uint64_t round;
  std::uint64_t turn;
  // What a call tells the other members of itself: one word, or in a checked job which call it is
  // (words.h) and its bytes. Owner: likewise.
  std::uint64_t call;
  std::uint64_t call_bytes;
  // When the call ends that has a bound of its own; else 0. Owner: likewise.
  std::uint64_t deadline_ns;
  // What the members of the team with this first_epoch have agreed on: first_epoch + 1 + m, where
  // each node has m of them, in the order of ranks, and m is 0 where calls do not go by node
  // (device/coll/nodes.cuh). Below first_epoch + 1: nothing yet. Owner: likewise.
  std::uint64_t nodes;
  std::uint32_t reserved[14];
  struct alignas(64) Flag {
    std::uint64_t arrived;
    std::uint64_t pad[7];
  } flags[kMaxSyncRounds];
};
static_assert(sizeof(SyncArea) == 2176 && offsetof(SyncArea, flags) == 128);

// Bytes at the heap's start that are no program's: what an index of -1 in the first allocation
// would meet. The areas of teams lie at the heap's end.
inline constexpr std::size_t kHeapReserved = 64 * 1024;

// ---- Teams --------------------------------------------------------------------------------------

// From how many bytes on a call takes the second of its two algorithms; the same on all members.
// host/teams/algorithms.hpp has the table.
struct SwitchSizes {
  std::uint64_t fcollect = 0, alltoall = 0;                  // of a member
  std::uint64_t reduce = 0, reducescatter = 0, scan = 0;     // of a source
  std::uint64_t broadcast = 0;                               // of the source
  std::uint64_t fcollect_by_nodes = 0, reduce_by_nodes = 0;  // no less than those without
};

// Calls that may go by multimem (device/coll/multimem.cuh), as bits of Team::by_multimem.
inline constexpr std::uint32_t kFcollectByMultimem = 1, kReduceByMultimem = 2;

// Owner: the host.
struct Team {
  std::int32_t handle = -1;  // of lane 0; -1: no team has the entry
  std::int32_t size = 0;     // members
  std::int32_t my_rank = -1;
  // Member r is PE start + r * stride, or pes[r] where there is a list. A stride is not 0.
  std::int32_t start = 0;
  std::int32_t stride = 1;
  std::int16_t lanes = 0;
  std::uint8_t doubles = 0;         // 1: small data of each member for all go by recursive doubling
  std::uint8_t meets_directly = 0;  // 1: each member tells all others by itself that it has come
  const std::int32_t* pes = nullptr;  // [size], or null
  SyncArea* areas = nullptr;          // [lanes] here; one more where its members agree on something
  std::uint64_t first_epoch = 0;      // its meetings count from here
  // For what its members agree on when they make another team (device/coll/agree.cuh): this PE's
  // words, then those that peers send. Null: they make none.
  std::uint64_t* agreement = nullptr;
  // A member's slot, and its words, in each half of a lane's scratch (device/coll/lane.cuh).
  std::uint32_t slot_bytes = 0, words_bytes = 0;
  // Members that this PE maps, itself too, if they are m neighbours by rank of which the first
  // one's rank is a multiple of m, as the team's size; m is 2 or more. Else 0.
  std::int32_t node_members = 0;
  std::uint32_t by_multimem = 0;  // calls that go by it
  SwitchSizes switch_at;
  // The address at which multimem instructions reach the heaps of all members at once. Null where
  // there is none; by_multimem is 0 then.
  std::byte* multicast_heap = nullptr;
};
static_assert(sizeof(Team) == 144);

// All teams of this PE, and the memory of their lanes. Owner: the host; an entry changes only while
// no call uses its team.
struct Teams {
  const Team* entries = nullptr;  // [count]; in memory of the device
  std::int32_t count = 0;
  std::int32_t lanes = 0;  // of each team
  // For data that members send each other, by index and lane, at the same offset of each member's
  // heap: for each rank the number of the last round in which that member has stored one behind
  // its data (owner: that member), and what it has sent.
  std::byte* arrivals = nullptr;     // arrivals_bytes a lane
  std::byte* scratch = nullptr;      // scratch_bytes a lane
  std::uint32_t arrivals_bytes = 0;  // of a lane
  std::uint32_t scratch_bytes = 0;   // of a lane: two halves
};
static_assert(sizeof(Teams) == 40);

}  // namespace chime::abi

#endif  // CHIME_ABI_TEAM_H_
