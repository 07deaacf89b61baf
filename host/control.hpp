// The page that a PE shares with its node mates' hosts and its own kernels: why the job is being
// ended, the first failed device wait, and what the PE is asked for by the collective host call it
// is in.
#pragma once

#include <cstdint>

#include "chime/abi/state.h"

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

struct ControlBlock {
  abi::AbortWord abort;
  abi::ErrorRecord error;
  CollectiveSlot collective[2];
  // What the latest atomic of this PE's host gave (gpu_ops.cpp). Written by the library's kernel,
  // read by the host that waited for it.
  alignas(64) std::uint64_t amo_result;
};

}  // namespace chime::host
