// From each node the PE that has the same place there: the team SAME_MYPE_NODE.
//
// A PE knows its own node. So the lowest PE of each node leaves the list of its PEs in the
// bootstrap, and whoever asks for the team looks up one list a node: few programs ask.
#pragma once

#include "bootstrap/bootstrap.hpp"
#include "host/teams/members.hpp"

namespace chime::host {

// Leaves this node's list, if this PE is its lowest. Nothing in a job of one node.
void publish_node(bootstrap::Bootstrap& bootstrap);

// The PEs of this PE's place, node by node; a node that has no such place has none. Not collective:
// waits for the other nodes' lists until `deadline`, then throws BootstrapError.
Members pes_of_same_place(const bootstrap::Bootstrap& bootstrap, bootstrap::Deadline deadline);

}  // namespace chime::host
