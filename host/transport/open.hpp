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
  // Whether each PE is reached, now or when it is asked for, by one of the transports that were
  // opened and connected before this one. Alike on all PEs of the job: a PE that has no NIC is
  // reached by nobody's.
  bool reaches_all;
  // Finds the cards of the fabric's peers, if they are looked for when they are first touched.
  CardFinder* fabric_cards = nullptr;
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
