// Which PE of a node looks at the host for all: the first that comes.
#pragma once

#include "net/socket/descriptor.hpp"

namespace chime::doctor {

// Held until all PEs have come: whoever holds it listens at a name that is of this network
// namespace, user and job.
class HostClaim {
 public:
  // Asks no launcher: before the program starts threads.
  HostClaim();
  bool is_mine() const { return is_mine_; }

 private:
  bool is_mine_ = true;
  net::Descriptor listener_;
};

}  // namespace chime::doctor
