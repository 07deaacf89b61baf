// The transports of a PE, in the order in which they are preferred.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "host/gpu/gpu.hpp"
#include "host/transport/mlx5/options.hpp"
#include "host/transport/ofi/options.hpp"
#include "host/transport/p2p/options.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

// A PE that is about to be connected. What it names outlives the transports.
struct TransportSetup {
  int my_pe;
  int n_pes;
  int node_pe;       // its place among the PEs of its node
  bool is_one_node;  // all PEs of the job are of its node
  std::string job;   // names the softnic's fabric
  Gpu& gpu;
  std::shared_ptr<DeviceMemory> heap;
  P2pGroups p2p;
  NicOptions nic;
  FabricOptions fabric;
  // By the transports that were opened and connected before this one:
  bool reaches_all;
  bool looks_for_nic = false;  // one is about NICs: alike on all PEs of the job
  bool reaches_by_nic = false;
  // By a thread of a transport, at most once: `way` leads this PE nowhere any more, at no peer's
  // fault.
  std::function<void(Path way, const std::string& why)> lost_own_way = {};
};

struct TransportKind {
  const char* opening;  // the steps of init, as errors name them
  const char* connecting;
  const char* viewing;
  // Null: it is not wanted, on any PE of the job. Throws Error.
  std::unique_ptr<Transport> (*open)(const TransportSetup& setup);
};

std::span<const TransportKind> transport_kinds();

}  // namespace chime::host
