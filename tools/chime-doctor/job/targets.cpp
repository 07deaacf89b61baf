#include "tools/chime-doctor/job/targets.hpp"

#include <algorithm>
#include <iterator>

#include "tools/chime-doctor/job/plan.hpp"

namespace chime::doctor {
namespace {

using Ports = std::vector<PortFacts>;

bool is_ipv6(const std::string& address) { return address.find(':') != std::string::npos; }

Ports those_of(const Ports& ports, auto is_wanted) {
  Ports wanted;
  std::ranges::copy_if(ports, std::back_inserter(wanted), is_wanted);
  return wanted;
}

// The RoCE ports with an address of that kind, from the one at `place` on, in a ring.
Ports ports_from(std::size_t place, const std::string& address, const Ports& ports) {
  Ports roce = those_of(ports, [](const PortFacts& port) { return port.is_of_roce(); });
  if (place < roce.size())
    std::rotate(roce.begin(), roce.begin() + static_cast<std::ptrdiff_t>(place), roce.end());
  return those_of(roce,
                  [&](const PortFacts& port) { return is_ipv6(port.address) == is_ipv6(address); });
}

// Through which the address of another host's port, its one at `place`, is tried.
Ports ports_toward(const ListeningAddress& address, std::size_t place, const Ports& ports) {
  Ports all = ports_from(place, address.host, ports);
  Ports within = those_of(all, [&](const PortFacts& port) {
    return !port.network.empty() && port.network == address.network;
  });
  const std::size_t most = within.empty() ? kMostPortsToOtherSubnets : 1;
  Ports& chosen = within.empty() ? all : within;
  if (chosen.size() > most)
    chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(most), chosen.end());
  return chosen;
}

void add_targets(const HostAddresses& host, const Ports& ports, std::vector<Target>& targets) {
  std::size_t place = 0;
  for (const ListeningAddress& address : host.addresses) {
    const Ports through = address.is_of_nic ? ports_toward(address, place++, ports) : Ports();
    const auto leaves_it_to_routes = [](const PortFacts& port) { return port.interface.empty(); };
    for (const PortFacts& port : through)
      if (!leaves_it_to_routes(port))
        targets.push_back({host.pe, address, port.interface, port.address});
    if (std::ranges::all_of(through, leaves_it_to_routes)) targets.push_back({host.pe, address});
  }
}

}  // namespace

std::vector<Target> targets_of(int pe, const std::vector<PortFacts>& ports,
                               const std::vector<HostAddresses>& hosts) {
  const auto mine = std::ranges::find(hosts, pe, &HostAddresses::pe);
  std::vector<Target> targets;
  if (mine == hosts.end()) return targets;
  for (const std::size_t place :
       tried_by(static_cast<std::size_t>(mine - hosts.begin()), hosts.size()))
    add_targets(hosts[place], ports, targets);
  return targets;
}

std::size_t most_attempts(std::size_t n_addresses, std::size_t n_ports) {
  return n_addresses + kMostPortsToOtherSubnets * n_ports;
}

}  // namespace chime::doctor
