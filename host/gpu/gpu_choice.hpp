// Which GPU each PE of a node takes whose program has chosen none: one that is near where the PE
// runs, and no GPU has two PEs more than another. Pure functions of what PEs see, so that all of
// them find the same.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "host/topology/machine.hpp"

namespace chime::host {

struct SeenGpu {
  std::string address;     // "0000:81:00.0"
  std::size_t shared = 0;  // parts of the machine in which the PE's processors are, too
  std::string part{};      // the smallest of them, for people: the PE's own knowledge
};
// All that a PE may take, in CUDA's order; the one alone that its program has chosen; none on the
// CPU device.
using SeenGpus = std::vector<SeenGpu>;

SeenGpus seen_from(const cpu_set_t& processors, std::span<const std::string> addresses,
                   const topology::Machine& machine);

// The text that PEs exchange about the GPUs that each sees.
std::string text_of(const SeenGpus& seen);
SeenGpus seen_gpus_of(const std::string& text);

// For each PE of the node, in their order, the index of its GPU among those that it sees (0 where
// it sees none). In each round every GPU is given once: the PE that sees fewest takes first, then
// the nearer PE, then the lower PE. Where nothing is known of nearness, PEs take GPUs in turn.
std::vector<std::size_t> spread_over_gpus(std::span<const SeenGpus> node);

// Why a PE that sees `seen` takes the one of this index, in a sentence. `why_unknown`: why nothing
// is known of nearness, or empty.
std::string why_this_gpu(const SeenGpus& seen, std::size_t index, std::size_t n_pes,
                         const std::string& why_unknown);

}  // namespace chime::host
