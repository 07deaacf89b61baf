// This PE's place among the PEs of its node, which the bootstrap knows and keeps.
#pragma once

#include "bootstrap/bootstrap.hpp"

namespace chime::host {

using NodePlace = bootstrap::NodeInfo;

class Node {
 public:
  // As Bootstrap::node().
  const NodePlace& place(const bootstrap::Bootstrap& bootstrap) const { return bootstrap.node(); }
};

}  // namespace chime::host
