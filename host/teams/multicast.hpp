// The heaps of a node's PEs at one address, by which collectives go by multimem
// (device/coll/multimem.cuh). Made at init, and only where the user asks for such an algorithm.
//
// Each step is one that all of the node's PEs take, or none: after each of them all PEs hear which
// could not. The driver waits without a bound for devices that are not added, so no PE binds its
// heap before it has heard that all are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "host/gpu/gpu.hpp"

namespace chime::host {

struct NodeMulticast {
  std::unique_ptr<Multicast> object;  // null: there is none
  std::byte* heaps = nullptr;         // the address, for kernels
  std::vector<int> pes;               // whose heaps are there
  std::string why_not;                // there is none: the first PE that could not, and why
};

// What this PE brings. The borrowed objects outlive the result.
struct MulticastSetup {
  bootstrap::Bootstrap& bootstrap;
  Gpu& gpu;
  const DeviceMemory& heap;
  bool maps_all;                // of the node's PEs
  const DeviceMemory& control;  // whose descriptor goes with an endpoint info
  bootstrap::Deadline deadline;
};

// Collective over the node's PEs, whose node exchange has ended. Throws Error or BootstrapError if
// one of them does not come until the deadline.
NodeMulticast make_node_multicast(const MulticastSetup& setup);

}  // namespace chime::host
