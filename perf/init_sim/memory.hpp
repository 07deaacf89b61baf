// The memory that an idle PE keeps for its peers, besides its heap: allocated by the classes that
// keep it, and counted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chime::perf {

struct MemoryShape {
  int n_pes = 1;
  int node_pes = 8;
  int nic_peers = 0;  // peers with queue pairs: all of them, or a pool's
  int peers = 0;      // peers with messages, over a side channel or the fabric
  bool is_lazy = true;
};

struct MemoryPart {
  std::string what;
  double bytes = 0;
};

// Without the NIC's queues, which are in the kernels' memory: nic_queues().
std::vector<MemoryPart> memory_of_pe(const MemoryShape& shape);

// Send and completion queues, results and staging.
double nic_queue_bytes(const MemoryShape& shape);

double sum(const std::vector<MemoryPart>& parts);

}  // namespace chime::perf
