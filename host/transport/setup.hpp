// The arguments with which a transport is opened.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/gpu/gpu.hpp"
#include "host/options/fabric.hpp"
#include "host/options/nic.hpp"
#include "host/options/p2p.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

// A PE that is about to be connected. The objects that it names outlive the transports.
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
  // Finds the endpoint infos of the fabric's peers, if these are looked for at their first touch.
  EndpointInfoFinder* fabric_endpoint_infos = nullptr;
  // Called by a thread of a transport, at most once: `path` leads this PE nowhere any more, at no
  // peer's fault.
  std::function<void(Path path, const std::string& why)> lost_own_path = {};
};

}  // namespace chime::host
