// The page that a PE shares with its node mates' hosts and its own kernels: why the job is being
// ended, the first failed device wait, what the PE is asked for by the collective host call it is
// in, and what became of that call.
#pragma once

#include <cstdint>

#include "chime/abi/context.h"

namespace chime::host {

// What a PE was asked for by its latest collective host calls. Owner: the PE itself writes, mates
// read. Two slots, used in turn: a PE writes call n + 2 only after call n + 1 met everyone, and
// whoever is in call n + 1 has finished reading call n.
struct alignas(64) CollectiveSlot {
  std::uint64_t
      sequence;  // number of the call; stored last (release), pairs with the acquire in Rendezvous
  std::uint64_t kind;    // CollectiveCall::Kind
  std::uint64_t first;   // size or offset
  std::uint64_t second;  // alignment, or 0
};

// What became of the latest collective host call that is settled: all PEs have met in it, or one
// has given it up, after which no later one can meet.
struct alignas(64) Verdict {
  // Owner: all PEs, by compare-and-swap on PE 0's page, the only one that counts. Sequence << 24 |
  // 0: met; or the PE that gave it up, plus 1. Changed once per call, from its predecessor's "met".
  std::uint64_t word;
  // Why this PE gave a call up, zero-terminated. Owner: this PE, which writes it before the word.
  char why_given_up[248];
};

struct ControlBlock {
  abi::AbortWord abort;
  abi::ErrorRecord error;
  CollectiveSlot collective[2];
  Verdict verdict;
  // What the latest atomic of this PE's host gave (gpu_ops.cpp). Written by the library's kernel,
  // read by the host that waited for it.
  alignas(64) std::uint64_t amo_result;
};

}  // namespace chime::host
