// A PE: its number, the addresses of the heaps, the ends of waits, and the records of failures. The
// host and all contexts of a PE share it.
//
// Shared by host code, device code on a GPU and device code on the SIMT executor: fixed-width
// fields only.
#ifndef CHIME_ABI_PE_H_
#define CHIME_ABI_PE_H_

#include <cstddef>
#include <cstdint>

#include "chime/abi/allocations.h"
#include "chime/abi/operation.h"
#include "chime/cxx20.h"

namespace chime {

// How a PE's memory is reached. device/route.cuh alone decides which path is used.
enum class Path : std::uint8_t { kNone = 0, kP2p = 1, kNic = 2, kProxy = 3 };

// What the calling thread does after a failure. CHIME_ON_ERROR.
enum class OnError : std::uint32_t { kExit = 0, kReturn = 1, kTrap = 2 };

// The error of an operation. All but kWait: the operation did not begin.
enum class Fault : std::uint16_t {
  kPlace = 0,       // the PE, the address or the size: see the record's other fields
  kSignalOp = 1,    // `expected`: it is no SignalOp
  kComparison = 2,  // `expected`: it is no comparison
  kAlignment = 3,   // the address: it is no multiple of `expected`
  kWait = 4,        // a wait ended without its event
  kBounds = 5,      // the `expected` bytes at the address: no single allocation has them
  kTeam = 6,        // `expected`: it is no team, or none that the operation takes
  kNoMemory = 7,    // the address: this PE has no memory there (null, or near it)
  kTeamFailed = 8,  // `expected`: this team meets no more; an earlier call failed by the status
  kTeamInUse = 9,   // `expected`: another thread of this PE meets in this lane of the team
  kRoot = 10,       // `expected`: it is no member of the team `seen`
  // The PE makes another call in this lane: its call_word() (words.h) is `seen`, and its bytes are
  // `waited_ns`. This PE's bytes are the address, and its root is the upper half of `expected`, of
  // which the lower half is the team.
  kUnalike = 11,
  kRoom = 12,     // the PE sends `expected` bytes, for which the address has not room
  kRefused = 13,  // `expected`: the PE, of this team, refuses the call
  // As kWait, for a member that may itself wait for another one.
  kWaitForWaiting = 14,
};

namespace abi {

// Raised once for each PE, in host-visible memory. Every device wait polls `raised`. Owner of all
// fields: the first writer that changes `raised` from 0 to 1 by compare-and-swap. It stores the
// other fields, then 2 (release on `raised`; pairs with the acquire load in device/wait.cuh).
struct alignas(64) AbortWord {
  std::uint32_t raised;    // 0 | 1 claimed, being written | 2 published
  std::int32_t status;     // chimex_status
  std::int32_t pe;         // the PE that caused it, -1 if none did
  std::uint32_t path;      // Path by which it was reached
  std::int32_t exit_code;  // of the processes that end by it
  // If survivors go on (CHIME_ON_PEER_FAILURE=report): 1 + the first PE that is dead; 0: none is.
  // Owner: this PE's host, by compare-and-swap, whether or not the word is raised.
  std::uint32_t first_dead;
  std::uint64_t dead_seen_ns;  // when a wait first saw it, by the device's clock; 0: not yet
  // The request of a kernel of this PE to end the job: kExitAsked and the status; 0: none. Owner:
  // the first kernel that asks, by compare-and-swap, whether or not the word is raised. The host
  // obeys.
  std::uint64_t exit_asked;
  char why[216];  // a zero-terminated message for the user
};
static_assert(sizeof(AbortWord) == 256 && offsetof(AbortWord, why) == 40);
inline constexpr std::uint64_t kExitAsked = std::uint64_t{1} << 32;

// The first failure of the threads that share the record: all kernels of a PE, or one host thread.
// The thread that fails claims it by compare-and-swap; the host reports it, and frees it.
struct alignas(64) ErrorRecord {
  std::uint32_t claimed;    // 0 | 1 being written | 2 published (release; pairs with the acquire in
                            // host/report/async_error.cpp)
  std::int32_t status;      // chimex_status
  std::int32_t pe;          // peer concerned, -1 if unknown
  std::uint16_t operation;  // Operation; kNone: the NIC on behalf of one
  std::uint16_t fault;      // Fault
  std::uint64_t address;    // of the wait or operation, in this PE's address space
  std::uint64_t expected;   // wait: value compared with; else bytes, or as `fault` says
  std::uint64_t seen;       // last value seen
  std::uint64_t waited_ns;
  std::uint32_t in_kernel;  // 1: block and thread say where in its launch; 0: a host operation
  std::uint32_t block;      // rank of the block in the grid
  std::uint32_t thread;     // rank of the thread in its block
};
static_assert(sizeof(ErrorRecord) == 64 && offsetof(ErrorRecord, address) == 16);

// Pe::checked. One word, so that an operation that does neither makes one test.
inline constexpr std::uint32_t kChecks = 1;  // device code checks its arguments. CHIME_CHECK
inline constexpr std::uint32_t kNotes = 2;   // CPU device alone: set where `traced` is

// Owner: the host, at init.
struct Pe {
  std::int32_t my_pe = -1;
  std::int32_t n_pes = 0;
  std::int32_t node_my_pe = -1;  // among the PEs of its node, in the order of their numbers
  std::int32_t node_n_pes = 0;
  std::byte* heap = nullptr;     // this PE's symmetric heap, as its device code addresses it
  std::uint64_t heap_bytes = 0;  // without Chime's own memory behind the program's (team.h)
  std::byte* const* peer_heap =
      nullptr;  // [n_pes] where each PE's heap is mapped here; null = not mapped
  const std::uint64_t* dead = nullptr;  // a bit for each PE that is gone, for ever; set before
                                        // first_dead names it; host-visible. Owner: the host
  AbortWord* abort = nullptr;           // host-visible
  ErrorRecord* error = nullptr;         // for the caller's failures; host-visible
  ErrorRecord* async_error = nullptr;   // for failures that belong to no call; the PE's own record,
                                        // also `error` of kernels; host-visible
  std::uint64_t wait_timeout_ns =
      0;  // bound of Chime's own waits (barrier, sync); 0 = none. CHIME_TIMEOUT
  OnError on_error = OnError::kExit;
  Path amo_path = Path::kP2p;  // one per job: see device/route.cuh
  std::uint32_t checked = 0;   // 0: operations do nothing besides. Else kChecks | kNotes
  std::uint32_t traced = 0;    // 1: operations are noted on the timeline. CHIME_TRACE
  // Host-visible; null: the bounds of allocations are not checked. REQUIRES otherwise: checked.
  const Allocations* allocations = nullptr;
};
static_assert(sizeof(Pe) == 104);

}  // namespace abi
}  // namespace chime

#endif  // CHIME_ABI_PE_H_
