// Which PEs share a PE's node: those that can map each other's memory, since kernel and network
// namespace are the same (place.hpp). Under a PMIx launcher also the host's name, by which it
// counts PEs, has to be.
#pragma once

#include <vector>

#include "bootstrap/process_endpoint_info.hpp"

namespace chime::bootstrap {

struct NodeInfo {
  std::vector<int> pes = {};  // ascending, the PE itself among them
  int my_pe = -1;             // how many of them have lower numbers
  int n_pes = 0;              // the number of `pes`
  // One for each of `pes` if the bootstrap has found them while it looked for the node, on all PEs
  // of the node; else empty.
  std::vector<ProcessEndpointInfo> processes = {};
};

// The NodeInfo of `pe` if its node has `pes`, ascending.
NodeInfo node_of(int pe, std::vector<int> pes);

}  // namespace chime::bootstrap
