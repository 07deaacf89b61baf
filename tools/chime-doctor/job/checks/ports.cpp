// Can the hosts' NICs talk to each other?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tools/chime-doctor/job/checks/checks.hpp"
#include "tools/chime-doctor/job/checks/reached.hpp"
#include "tools/chime-doctor/job/names.hpp"

namespace chime::doctor {
namespace {

using Outcome = PathFacts::Outcome;
using Ports = PortsOfHosts;

Ports ports_in(const std::vector<Node>& nodes) {
  Ports ports;
  for (const Node& node : nodes) {
    for (const PortFacts* port : node.ports())
      ports.push_back({words_of(node, nodes), node.leader->pe, port});
  }
  return ports;
}

// By the text that `of` gives, the hosts whose ports have it.
template <class Of>
std::map<std::string, std::set<std::string>> hosts_by(const Ports& ports, Of of) {
  std::map<std::string, std::set<std::string>> all;
  for (const PortOfHost& port : ports) all[of(*port.port)].insert(port.host);
  return all;
}

std::string listed(const std::map<std::string, std::set<std::string>>& hosts) {
  std::vector<std::string> each;
  for (const auto& [value, names] : hosts)
    each.push_back(
        fmt::format("{} on {}", value, in_short(std::vector(names.begin(), names.end()))));
  return fmt::format("{}", fmt::join(each, ", "));
}

// Whether every host has all of them, as hosts do whose NICs belong to separate networks (rails).
bool are_rails(const std::map<std::string, std::set<std::string>>& hosts) {
  return std::ranges::all_of(hosts,
                             [&](const auto& one) { return one.second == hosts.begin()->second; });
}

std::string hosts_have(const std::vector<std::string>& hosts) {
  return in_short(hosts) + (hosts.size() == 1 ? " has" : " have");
}

// A host thread sends between hosts of which one has no NIC.
Findings without_nic_findings(const std::vector<Node>& nodes) {
  std::vector<std::string> without, with_excluded;
  for (const Node& node : nodes)
    if (node.leader != nullptr && node.ports().empty())
      (node.excluded_ports().empty() ? without : with_excluded).push_back(words_of(node, nodes));
  Findings findings;
  if (!without.empty())
    findings.push_back({Level::kWarning, "NICs", "",
                        hosts_have(without) +
                            " no active port of an mlx5 NIC, and others have: a host "
                            "thread sends between them",
                        "chime-doctor on that host; CHIME_NIC=off gives all PEs one path"});
  if (!with_excluded.empty())
    findings.push_back({Level::kWarning, "NICs", "",
                        hosts_have(with_excluded) +
                            " no active port that CHIME_NIC lets a PE take, and "
                            "others have: a host thread sends between them",
                        "the same CHIME_NIC on all hosts (chime-run -x, srun --export)"});
  return findings;
}

// Absent: PEs may take all.
std::optional<Finding> exclusion_finding(const std::vector<Node>& nodes) {
  std::map<std::string, std::set<std::string>> hosts;
  for (const Node& node : nodes)
    for (const PortFacts* port : node.excluded_ports())
      hosts[port->where].insert(words_of(node, nodes));
  if (hosts.empty()) return std::nullopt;
  return ok("NICs", "", "CHIME_NIC excludes " + listed(hosts) + ": not judged");
}

std::optional<Finding> link_layer_finding(const Ports& ports) {
  const auto layers = hosts_by(ports, [](const PortFacts& port) -> std::string {
    return port.is_ethernet ? "Ethernet" : "InfiniBand";
  });
  if (layers.size() < 2) return std::nullopt;
  return Finding{Level::kWrong, "link layer", "",
                 listed(layers) + ": NICs of the two do not reach each other",
                 "CHIME_NIC=<a device of one kind> on each host (chime-run -x, srun --export); "
                 "mlxconfig -d <device> set LINK_TYPE_P1=1 makes a port InfiniBand, 2 Ethernet"};
}

// ---- InfiniBand. A GID's first half is its subnet's prefix. Chime addresses peers by LID
// (host/transport/mlx5/queues/mlx5_route.cpp), which is of one subnet.

std::string prefix_of(const PortFacts& port) { return port.gid.substr(0, 19); }

std::optional<Finding> prefix_finding(const Ports& ports) {
  const auto prefixes = hosts_by(ports, prefix_of);
  if (prefixes.size() < 2) return std::nullopt;
  const bool is_rails = are_rails(prefixes);
  return Finding{
      is_rails ? Level::kWarning : Level::kWrong, "InfiniBand subnet", "",
      fmt::format("{}: {}", listed(prefixes),
                  is_rails ? "PEs whose NICs are in different ones do not reach each other by NIC"
                           : "a LID leads to no port of another subnet"),
      "CHIME_NIC=<a device> of one subnet on all hosts; if the hosts share switches, one subnet "
      "manager for all: sminfo"};
}

// Subnet managers give each port a LID of its own: two ports with one are in different subnets,
// which may both have the default prefix.
std::optional<Finding> lid_finding(const Ports& ports) {
  std::map<std::string, PortOfHost> owners;
  for (const PortOfHost& port : ports) {
    if (port.port->lid == 0) continue;  // not known
    const std::string lid = fmt::format("{} {}", prefix_of(*port.port), port.port->lid);
    const auto [owner, is_new] = owners.emplace(lid, port);
    if (!is_new)
      return Finding{Level::kWrong, "LID", "",
                     fmt::format("{} and {} both have LID {}: they are in different subnets",
                                 owner->second.words(), port.words(), port.port->lid),
                     "connect their switches and run one subnet manager (sminfo on both hosts must "
                     "show the same), or CHIME_NIC=<a device> of one subnet on all hosts"};
  }
  return std::nullopt;
}

// ---- RoCE: a GID is an internet address of the port's interface.

bool is_ipv6(const PortFacts& port) { return port.address.find(':') != std::string::npos; }

std::optional<Finding> family_finding(const Ports& ports) {
  const auto families = hosts_by(
      ports, [](const PortFacts& port) -> std::string { return is_ipv6(port) ? "IPv6" : "IPv4"; });
  if (families.size() < 2) return std::nullopt;
  return Finding{Level::kWrong, "RoCE addresses", "",
                 listed(families) + ": NICs with addresses of one kind alone do not reach others",
                 "ip addr add <address>/<length> dev <its interface>, of the same kind on all "
                 "hosts; or CHIME_NIC_GID_INDEX (show_gids)"};
}

// The attempts at the ports' addresses, of hosts that have ports themselves.
std::vector<const PathFacts*> attempts_between(const Ports& ports, const Job& job) {
  std::vector<const PathFacts*> attempts;
  for (const PathFacts& path : job.found.paths)
    if (path.outcome != Outcome::kNotTried && port_tried(path, ports) != nullptr &&
        std::ranges::count(ports, path.from, &PortOfHost::leader) > 0)
      attempts.push_back(&path);
  return attempts;
}

// The hosts that have tried some address by their routes alone.
std::vector<std::string> hosts_by_routes(const std::vector<const PathFacts*>& attempts,
                                         const std::vector<Node>& nodes) {
  std::set<int> by_routes;
  for (const PathFacts* path : attempts)
    if (std::ranges::none_of(attempts, [&](const PathFacts* other) {
          return other->from == path->from && is_at_same_port(*other, *path) &&
                 !other->through.empty();
        }))
      by_routes.insert(path->from);
  std::vector<std::string> hosts;
  for (const int leader : by_routes) hosts.push_back(words_of_node_at(leader, nodes));
  return hosts;
}

Finding networks_finding(const Ports& ports, const Job& job, const std::vector<Node>& nodes) {
  const auto networks = hosts_by(ports, [](const PortFacts& port) { return port.network; });
  const std::string all = listed(networks);
  if (networks.size() < 2)
    return ok("RoCE addresses", "",
              networks.begin()->first.empty() ? "of one kind" : "in one subnet: " + all);
  if (are_rails(networks))
    return {Level::kWarning, "RoCE addresses", "",
            all + ": PEs whose NICs are in different ones reach each other by a router alone",
            "CHIME_NIC=<a device> of one subnet on all hosts, unless a router connects them"};
  const auto attempts = attempts_between(ports, job);
  if (attempts.empty())
    return {Level::kWarning, "RoCE addresses", "",
            all + ": whether a router connects them was not tried",
            "ping these addresses from the other hosts; CHIME_NIC_GID_INDEX (show_gids) takes "
            "others"};
  const std::vector<std::string> by_routes = hosts_by_routes(attempts, nodes);
  if (by_routes.empty())
    return ok("RoCE addresses", "",
              all +
                  ": TCP gets from one to another through the NICs' interfaces; RoCE needs UDP "
                  "port 4791, too");
  return ok("RoCE addresses", "",
            fmt::format("{}: TCP gets from one to another, from {} by whatever interface; RoCE "
                        "needs a router between the NICs, for UDP port 4791",
                        all, in_short(by_routes)));
}

Findings roce_findings(const Ports& ports, const Job& job, const std::vector<Node>& nodes) {
  if (auto finding = family_finding(ports)) return {*finding};
  Findings unreached = unreached_findings(ports, job, nodes);
  if (!unreached.empty()) return unreached;
  return {networks_finding(ports, job, nodes)};
}

Findings infiniband_findings(const Ports& ports) {
  Findings findings;
  for (const auto& finding : {prefix_finding(ports), lid_finding(ports)})
    if (finding) findings.push_back(*finding);
  if (findings.empty())
    findings.push_back(
        ok("InfiniBand subnet", "",
           prefix_of(*ports.front().port) + ": each port has a LID of its own there"));
  return findings;
}

}  // namespace

Findings check_ports(const Job& job) {
  const std::vector<Node> nodes = nodes_of(job);
  const Ports ports = ports_in(nodes);
  if (nodes.size() < 2) return {};
  Findings findings;
  if (auto finding = exclusion_finding(nodes)) findings.push_back(*finding);
  if (ports.empty()) return findings;
  for (Finding& finding : without_nic_findings(nodes)) findings.push_back(std::move(finding));
  if (auto finding = link_layer_finding(ports)) findings.push_back(*finding);
  Ports ethernet, infiniband;
  for (const PortOfHost& port : ports)
    (port.port->is_ethernet ? ethernet : infiniband).push_back(port);
  std::erase_if(ethernet, [](const PortOfHost& port) { return port.port->address.empty(); });
  if (!ethernet.empty())
    for (Finding& finding : roce_findings(ethernet, job, nodes)) findings.push_back(finding);
  if (!infiniband.empty())
    for (Finding& finding : infiniband_findings(infiniband)) findings.push_back(finding);
  return findings;
}

}  // namespace chime::doctor
