// Which RoCE ports the hosts' attempts to connect have not got through to, or out of.
#pragma once

#include <string>
#include <vector>

#include "host/diagnosis/finding.hpp"
#include "tools/chime-doctor/job/facts.hpp"
#include "tools/chime-doctor/job/names.hpp"

namespace chime::doctor {

struct PortOfHost {
  std::string host;
  int leader;  // the PE that looks at it
  const PortFacts* port;

  std::string words() const { return host + " " + port->where; }
};
using PortsOfHosts = std::vector<PortOfHost>;

// The one at whose address the attempt was made; null: it is no port's. Ports of different hosts
// may have the same address, where nothing connects them.
const PortOfHost* port_tried(const PathFacts& path, const PortsOfHosts& ports);
bool is_at_same_port(const PathFacts& one, const PathFacts& other);

// None: every attempt has got through, or there is none.
Findings unreached_findings(const PortsOfHosts& ports, const Job& job,
                            const std::vector<Node>& nodes);

}  // namespace chime::doctor
