// Brings this PE and all others together at init, transport by transport, by the steps of
// host/transport/transport.hpp.
#pragma once

#include <memory>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/peer_watch.hpp"
#include "host/gpu/gpu.hpp"
#include "host/peers/peer_table.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

// The node's other PEs, by their endpoint infos; none before the node's PEs have met.
struct LocalPeers {
  std::vector<bootstrap::KnownLocalPeer> known;
  std::vector<std::shared_ptr<DeviceMemory>> control_pages;  // mapped here
};

class Connector {
 public:
  // `control`: this PE's page, which its local peers get beside the transport's endpoint info.
  Connector(bootstrap::Bootstrap& bootstrap, std::shared_ptr<DeviceMemory> control,
            PeerTable& peers, bootstrap::Deadline deadline);

  // Collective over the PEs that `transport` may reach, and over the job's transports in the same
  // order. When it returns, each PE that is reached can be written to. Where it opens on demand,
  // that is this PE alone, and only PE 0 has been waited for. Throws Error or BootstrapError, at
  // the deadline at the latest.
  void connect(Transport& transport);

  // The node's PEs, once a transport of theirs was connected.
  LocalPeers take_local_peers() { return std::move(local_peers_); }

 private:
  void connect_to_myself(Transport& transport);
  void connect_node(Transport& transport);
  void connect_job(Transport& transport);
  void begin_on_demand(Transport& transport);
  Acceptance accept(Transport& transport, int pe, const PeerEndpointInfo& endpoint_info);
  void use(const Transport& transport, int pe, const Acceptance& acceptance);

  bootstrap::Bootstrap& bootstrap_;
  const std::shared_ptr<DeviceMemory> control_;
  PeerTable& peers_;
  const bootstrap::Deadline deadline_;
  LocalPeers local_peers_;
};

}  // namespace chime::host
