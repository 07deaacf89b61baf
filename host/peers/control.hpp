// The page that a PE shares with its local peers' hosts and its own kernels: why the job is being
// ended, the first failure that is no host operation's own, what the PE is asked for by the
// collective host call it is in, and what became of that call. Behind it stand the bits of dead
// PEs (abi::Pe::dead), for this PE's kernels alone.
#pragma once

#include <cstdint>

#include "chime/abi/context.h"

namespace chime::host {

// The arguments of a PE's latest collective host calls. Owner: the PE itself writes, local peers
// read. Two slots, used in turn: a PE writes call n + 2 only after call n + 1 met everyone, and a
// PE that is in call n + 1 has finished reading call n.
struct alignas(64) CollectiveSlot {
  // Number of the call; stored last (release), pairs with the acquire in MappedRendezvous.
  std::uint64_t sequence;
  std::uint64_t kind;    // CollectiveCall::Kind
  std::uint64_t first;   // size or offset
  std::uint64_t second;  // alignment, or 0
  std::uint64_t place;   // offset of what the PE has taken for it, or that it fails
};

// The result of the latest collective host call that is settled: all PEs have met in it, or one has
// given it up, after which no later one can meet.
struct alignas(64) VerdictWords {
  // Owner: all PEs, by compare-and-swap on PE 0's page, the only one that counts. Sequence << 24 |
  // 0: met; or the PE that gave it up, plus 1. Changed once per call, from its predecessor's "met".
  std::uint64_t word;
  // How many PEs sleep until it changes (peers/shared_word.hpp). Owner: all PEs, on PE 0's page.
  std::uint32_t sleepers;
  // By a call's number modulo 2: the latest in which PEs were found to differ. Owner: all PEs, on
  // PE 0's page. Two words, because a PE that comes to the next call may compare there while
  // another still reads.
  std::uint64_t differs[2];
  // Why this PE gave a call up, zero-terminated. Owner: this PE, which writes it before the word.
  char why_given_up[232];
};

// The word of the PE's `number`-th barrier.
constexpr std::uint64_t barrier_word(std::uint64_t number, bool is_sync) {
  return number << 1 | (is_sync ? 1 : 0);
}
constexpr std::uint64_t number_of_barrier(std::uint64_t word) { return word >> 1; }
constexpr const char* name_of_barrier(std::uint64_t word) {
  return (word & 1) != 0 ? "chime_sync_all" : "chime_barrier_all";
}

struct ControlBlock {
  abi::AbortWord abort;
  abi::ErrorRecord error;
  CollectiveSlot collective[2];
  // How often this PE has come to a collective host call, or the last of a tree right below it in
  // the tree of PEs (host/collective/tree.hpp). Owner: all local peers, by atomic additions.
  alignas(64) std::uint64_t come;
  // While a thread of this PE's host is in a barrier by words of the heap
  // (host/ops/in_barrier.hpp): barrier_word(), another one for each; 0: none is. Owner: this PE;
  // local peers read.
  std::uint64_t in_barrier;
  std::uint64_t barriers;  // that this PE's host has begun. Owner: this PE; local peers read
  VerdictWords verdict;
  // The result of the latest kernel of a call of this PE's host (host/ops/gpu/kernel_call.hpp).
  // Written by the kernel, read by the host that waited for it.
  alignas(64) std::uint64_t call_result[2];
  abi::ErrorRecord call_failure;  // of that kernel, for the host thread that waited for it
  // For each room of streams (host/memory/stream_rooms.hpp): not 0 once the path of a request that
  // may still use it was lost. Kernels set it, and nothing resets it.
  std::uint32_t room_is_left[4];
};

}  // namespace chime::host
