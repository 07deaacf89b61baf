// Every PE of a node learns every local peer's endpoint info and gets the descriptors of its
// memory.
//
// The lowest PE of the node is the hub (host/peers/node/hub.hpp): it collects all endpoint infos,
// then sends the whole set to everyone, so n PEs make n - 1 connections. The names of its socket
// follow from the job's secret, so nothing has to be looked up. Both sides prove that they know the
// secret, and only then pass descriptors (net/README.md). Strangers are turned away and harm
// nobody.
#pragma once

#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "host/peers/node/endpoint_info.hpp"

namespace chime::host {

// Collective over bootstrap.node().pes. Returns all local peers but this PE, in PE order.
// `transport_fd` may be -1. Throws Error naming the PEs that did not come, or that run another
// version.
std::vector<LocalPeer> exchange_with_node(const bootstrap::Bootstrap& bootstrap,
                                          const NodeEndpointInfo& mine, int transport_fd,
                                          int control_fd, bootstrap::Deadline deadline);

}  // namespace chime::host
