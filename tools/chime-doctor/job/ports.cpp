#include "tools/chime-doctor/job/ports.hpp"

#ifdef CHIME_HAVE_RDMA_CORE

#include <arpa/inet.h>

#include <algorithm>
#include <cstdlib>

#include "host/diagnosis/facts/rdma.hpp"
#include "host/errors/error.hpp"
#include "host/transport/mlx5/nic/mlx5_gid.hpp"

namespace chime::doctor {
namespace {

using host::mlx5::GidEntry;
using host::mlx5::GidType;

// The kernel's texts: "IB/RoCE v1", "RoCE v2".
GidType type_of(const Gid& gid, bool is_ethernet) {
  if (!is_ethernet) return GidType::kInfiniBand;
  return gid.type == "RoCE v2" ? GidType::kRoceV2 : GidType::kRoceV1;
}

std::vector<GidEntry> table_of(const RdmaPort& port, const Root& root) {
  std::vector<GidEntry> table;
  for (const Gid& gid : gids_of(port, root)) {
    GidEntry entry{
        static_cast<unsigned>(std::atoi(gid.index.c_str())), type_of(gid, port.is_ethernet), {}};
    if (::inet_pton(AF_INET6, gid.text.c_str(), entry.gid.data()) == 1) table.push_back(entry);
  }
  return table;
}

// "10.0.0.1" of ::ffff:10.0.0.1.
std::string address_in(const host::mlx5::Gid& gid) {
  const std::string text = host::mlx5::text_of(gid), ipv4 = "::ffff:";
  return text.starts_with(ipv4) && text.find('.') != std::string::npos ? text.substr(ipv4.size())
                                                                       : text;
}

// "ens1" of "ens1:roce": getifaddrs() names an address with a label by that, and the kernel has no
// interface with a colon in its name.
std::string without_label(const std::string& interface) {
  return interface.substr(0, interface.find(':'));
}

// The interface that has the port's address, and its network.
void add_interface(const Probes& probes, PortFacts& port) {
  if (!probes.interfaces) return;
  for (const Interface& interface : *probes.interfaces)
    for (std::size_t i = 0; i < interface.networks.size() && i < interface.addresses.size(); ++i)
      if (interface.addresses[i] == port.address) {
        port.interface = without_label(interface.name);
        port.network = interface.networks[i];
        return;
      }
}

// The GID that a PE takes. Without one the host's own checks say so.
void add_gid(const RdmaPort& port, const Machine& machine, PortFacts& facts) try {
  const GidEntry taken = host::mlx5::choose_gid(table_of(port, machine.root), port.is_ethernet,
                                                machine.settings.nic.gid_index);
  for (const Gid& gid : gids_of(port, machine.root))
    if (gid.index == std::to_string(taken.index)) facts.gid = gid.text;
  if (!port.is_ethernet) return;
  facts.address = address_in(taken.gid);
  add_interface(machine.probes, facts);
} catch (const host::Error&) {
}

}  // namespace

std::vector<PortFacts> port_facts_of(const Machine& machine) {
  std::vector<PortFacts> all;
  for (const RdmaPort& port : mlx5_ports(machine.root)) {
    if (!port.is_active()) continue;
    PortFacts facts;
    facts.where = port.where;
    facts.is_ethernet = port.is_ethernet;
    facts.lid = static_cast<int>(machine.root.number(port.folder + "/lid").value_or(0));
    add_gid(port, machine, facts);
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace chime::doctor

#else

namespace chime::doctor {

std::vector<PortFacts> port_facts_of(const Machine&) { return {}; }

}  // namespace chime::doctor

#endif
