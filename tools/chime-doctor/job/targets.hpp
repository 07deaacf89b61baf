// What a host tries of the others: the addresses where they listen, as routes lead there, and those
// of their RoCE ports, through its own ports.
//
// All are tried at once, with a descriptor each, so they must stay proportional to the ports that
// are tried: a RoCE address is tried through one port of its subnet, or through
// kMostPortsToOtherSubnets of others. So a host tries another one at most
//
//   (addresses where that listens) + kMostPortsToOtherSubnets * (its RoCE ports)
//
// times. With eight NICs in one subnet, an address each and no other interface that is 16, and with
// 16 hosts 240 descriptors.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/chime-doctor/job/facts.hpp"

namespace chime::doctor {

inline constexpr std::size_t kMostPortsToOtherSubnets = 2;

// The listening addresses of a host, and the PE that looks at it.
struct HostAddresses {
  int pe;
  std::vector<ListeningAddress> addresses;
};

// A listening address of a host that PE `pe` looks at.
struct Target {
  int pe;
  ListeningAddress address;
  std::string through = {}, source = {};  // as PathFacts
};

// Those of the other hosts, tried from the host at which PE `pe` looks, which has these ports.
// Among the ports that it may take, it begins with the one that stands where the other host's does:
// NICs of equal number are connected to each other, if not all are. A port without interface leaves
// the choice to the routes.
std::vector<Target> targets_of(int pe, const std::vector<PortFacts>& ports,
                               const std::vector<HostAddresses>& hosts);

// How often a host with so many listening addresses and RoCE ports is tried by another, at most.
std::size_t most_attempts(std::size_t n_addresses, std::size_t n_ports);

}  // namespace chime::doctor
