// This PE's place among the PEs of its node. Which those are, the bootstrap knows: same kernel,
// same process-id space. It is asked once, by the first who needs the answer, since it may have to
// wait until all PEs have joined.
#pragma once

#include <mutex>
#include <optional>
#include <span>

#include "bootstrap/bootstrap.hpp"

namespace chime::host {

struct NodePlace {
  int my_pe = -1;  // how many PEs of the node have lower numbers
  int n_pes = 0;
};

// The place of `pe` among `peers`: the PEs of its node, ascending, it among them.
NodePlace place_among(std::span<const int> peers, int pe);

class Node {
 public:
  // Throws BootstrapError where PEs are gone or do not come; the next call asks again.
  NodePlace place(const bootstrap::Bootstrap& bootstrap);

 private:
  std::mutex mutex_;
  std::optional<NodePlace> place_;
};

}  // namespace chime::host
