// Where a hub listens for PEs of other hosts.
#pragma once

#include <string>
#include <vector>

#include "net/socket/address.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::bootstrap {

struct Listening {
  std::vector<net::Descriptor> listeners;
  std::vector<net::Address> addresses;  // where PEs find them, in the order to try, all of one port
};

// `interface`: the network interface that PEs reach this process by ("eth0", "lo"); empty: every
// one. Throws BootstrapError, listing the interfaces, if there is no such.
Listening listen_for_other_hosts(const std::string& interface);

}  // namespace chime::bootstrap
