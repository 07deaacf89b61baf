// Where this machine can be reached.
#pragma once

#include <string>
#include <vector>

#include "net/socket/address.hpp"

namespace chime::net {

struct Interface {
  std::string name;
  Address address;  // port 0
  bool is_loopback;
};

// Interfaces that are up, an entry for each of their addresses, loopback last: processes of other
// machines need a real address first, and loopback serves where there is no other. IPv6 addresses
// of one link alone (fe80::) are left out: such an address means nothing without this machine's
// name of the link. Throws Error.
std::vector<Interface> interfaces_that_are_up();

}  // namespace chime::net
