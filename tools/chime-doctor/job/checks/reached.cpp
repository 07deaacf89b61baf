// An attempt leaves by a port of one host and goes to a port of another. A port none of whose
// attempts has got through is dead, and explains them all: it is named once. The attempts left over
// are between two ports that reach others. Where these are on different rails, the fabric may have
// no way between rails at all.
#include "tools/chime-doctor/job/checks/reached.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace chime::doctor {
namespace {

using Outcome = PathFacts::Outcome;

struct PortAttempt {
  const PathFacts* path;
  const PortOfHost* from;  // null: the host's routes have chosen where it leaves
  const PortOfHost* to;

  bool is_of(const PortOfHost* port) const { return from == port || to == port; }
  bool is_lost() const {
    return path->outcome == Outcome::kSilent || path->outcome == Outcome::kNoWay;
  }
};
using PortAttempts = std::vector<PortAttempt>;

struct PortFault {
  enum class Kind {
    kDead,   // `port` is, which explains the attempts
    kWay,    // between ports that reach others; `port` was tried
    kRails,  // likewise, of different rails
  } kind;
  const PortOfHost* port;
  PortAttempts attempts;

  bool is_dead() const { return kind == Kind::kDead; }
};

const PortOfHost* port_left(const PathFacts& path, const PortsOfHosts& ports) {
  if (path.through.empty()) return nullptr;
  const auto port = std::ranges::find_if(ports, [&](const PortOfHost& one) {
    return one.leader == path.from && (path.source.empty() ? one.port->interface == path.through
                                                           : one.port->address == path.source);
  });
  return port == ports.end() ? nullptr : &*port;
}

// Whether an attempt of the same host at the same port went through a NIC: those through no
// interface show nothing of NICs then.
bool is_superseded(const PathFacts& path, const Job& job) {
  return path.through.empty() && std::ranges::any_of(job.found.paths, [&](const PathFacts& other) {
           return other.from == path.from && is_at_same_port(other, path) && !other.through.empty();
         });
}

PortAttempts attempts_in(const Job& job, const PortsOfHosts& ports) {
  PortAttempts attempts;
  for (const PathFacts& path : job.found.paths) {
    const PortOfHost* const to = port_tried(path, ports);
    if (to == nullptr || path.outcome == Outcome::kNotTried || is_superseded(path, job)) continue;
    attempts.push_back({&path, port_left(path, ports), to});
  }
  return attempts;
}

PortAttempts those_of(const PortAttempts& attempts, auto is_wanted) {
  PortAttempts wanted;
  std::ranges::copy_if(attempts, std::back_inserter(wanted), is_wanted);
  return wanted;
}

// The attempts that show whether the port works. Those that left by no port may have come in by
// another interface of its host, so they count where there are no others.
PortAttempts evidence_of(const PortOfHost* port, const PortAttempts& all) {
  const PortAttempts its = those_of(all, [&](const PortAttempt& one) { return one.is_of(port); });
  const PortAttempts by_ports =
      those_of(its, [](const PortAttempt& one) { return one.from != nullptr; });
  return by_ports.empty() ? its : by_ports;
}

bool is_dead(const PortOfHost* port, const PortAttempts& all) {
  return std::ranges::all_of(evidence_of(port, all), &PortAttempt::is_lost);
}

// The dead port that most of the lost attempts are of; null: none is dead. Among equals the one
// that was tried first.
const PortOfHost* worst_port(const PortAttempts& lost, const PortAttempts& all) {
  const PortOfHost* worst = nullptr;
  std::ptrdiff_t most = 0;
  for (const PortAttempt& attempt : lost)
    for (const PortOfHost* port : {attempt.to, attempt.from}) {
      if (port == nullptr || !is_dead(port, all)) continue;
      const auto n =
          std::ranges::count_if(lost, [&](const PortAttempt& one) { return one.is_of(port); });
      if (n > most) {
        worst = port;
        most = n;
      }
    }
  return worst;
}

// Which of its host's ports it is.
std::ptrdiff_t place_of(const PortOfHost* port, const PortsOfHosts& ports) {
  return std::count_if(ports.data(), port,
                       [&](const PortOfHost& one) { return one.leader == port->leader; });
}

// Whether the two ports are of different rails: of unequal number and in different subnets, and a
// port of another number reaches the one that was tried, from the same host.
bool joins_rails(const PortAttempt& attempt, const PortAttempts& all, const PortsOfHosts& ports) {
  if (attempt.from == nullptr || attempt.from->port->network == attempt.to->port->network ||
      place_of(attempt.from, ports) == place_of(attempt.to, ports))
    return false;
  return std::ranges::any_of(all, [&](const PortAttempt& other) {
    return other.to == attempt.to && other.path->from == attempt.path->from &&
           other.from != nullptr && other.from != attempt.from && !other.is_lost();
  });
}

void add_fault(PortFault::Kind kind, PortAttempts attempts, std::vector<PortFault>& faults) {
  if (!attempts.empty()) faults.push_back({kind, attempts.front().to, std::move(attempts)});
}

std::vector<PortFault> faults_in(const PortAttempts& all, const PortsOfHosts& ports) {
  PortAttempts lost = those_of(all, &PortAttempt::is_lost);
  std::vector<PortFault> faults;
  while (const PortOfHost* const port = worst_port(lost, all)) {
    const auto is_its = [port](const PortAttempt& one) { return one.is_of(port); };
    faults.push_back({PortFault::Kind::kDead, port, those_of(lost, is_its)});
    std::erase_if(lost, is_its);
  }
  const auto joins = [&](const PortAttempt& one) { return joins_rails(one, all, ports); };
  add_fault(PortFault::Kind::kRails, those_of(lost, joins), faults);
  std::erase_if(lost, joins);
  add_fault(PortFault::Kind::kWay, std::move(lost), faults);
  return faults;
}

// ---- In words

std::string hosts_in(const PortAttempts& attempts, auto host_of) {
  std::vector<std::string> hosts;
  for (const PortAttempt& attempt : attempts) {
    const std::string host = host_of(attempt);
    if (std::ranges::count(hosts, host) == 0) hosts.push_back(host);
  }
  return in_short(hosts);
}

std::string through(const PathFacts& path) {
  return path.through.empty() ? "" : " through " + path.through;
}

// Whether a NIC of the host at which `pe` looks is in that subnet: its kernel sends there by the
// NIC's interface alone. Elsewhere TCP takes any interface, and RoCE the NIC's.
bool has_nic_in(const std::string& network, int pe, const PortsOfHosts& ports) {
  return !network.empty() && std::ranges::any_of(ports, [&](const PortOfHost& port) {
    return port.leader == pe && port.port->network == network;
  });
}

bool goes_by_nic(const PortAttempt& attempt, const PortsOfHosts& ports) {
  return !attempt.path->through.empty() ||
         has_nic_in(attempt.to->port->network, attempt.path->from, ports);
}

// Those that have the same text, in the order of the first ones.
std::vector<PortAttempts> grouped_by(auto text_of, const PortAttempts& attempts) {
  std::vector<PortAttempts> groups;
  for (const PortAttempt& one : attempts) {
    const auto group = std::ranges::find_if(groups, [&](const PortAttempts& some) {
      return text_of(*some.front().path) == text_of(*one.path);
    });
    if (group == groups.end())
      groups.push_back({one});
    else
      group->push_back(one);
  }
  return groups;
}

// "10.2.0.2 is not reached by TCP from a, c through ens1: no answer, from d through ens2: No route
// to host (its subnet is 10.2.0.0/24)".
std::string words_of_coming(const PortOfHost& port, const PortAttempts& coming,
                            const std::vector<Node>& nodes) {
  const auto from = [&](const PortAttempt& one) { return words_of_node_at(one.path->from, nodes); };
  const auto how = [](const PathFacts& path) { return through(path) + ": " + path.why; };
  std::vector<std::string> each;
  for (const PortAttempts& group : grouped_by(how, coming))
    each.push_back("from " + hosts_in(group, from) + how(*group.front().path));
  const std::string& network = port.port->network;
  return fmt::format("{} is not reached by TCP {}{}", port.port->address, fmt::join(each, ", "),
                     network.empty() ? "" : fmt::format(" (its subnet is {})", network));
}

std::string words_of_leaving(const PortOfHost& port, const PortAttempts& leaving) {
  const auto to = [](const PortAttempt& one) { return one.to->host; };
  std::vector<std::string> each;
  for (const PortAttempts& group :
       grouped_by([](const PathFacts& path) { return path.why; }, leaving))
    each.push_back(hosts_in(group, to) + ": " + group.front().path->why);
  return fmt::format("TCP{} from {} does not reach {}", through(*leaving.front().path),
                     port.port->address, fmt::join(each, ", "));
}

// The other ports that may be dead instead: all their evidence is in this fault, too. With two
// hosts either end may be the dead one.
std::string words_of_suspects(const PortFault& fault, const PortAttempts& all) {
  std::vector<std::string> suspects;
  for (const PortAttempt& attempt : fault.attempts)
    for (const PortOfHost* port : {attempt.from, attempt.to}) {
      if (port == nullptr || port == fault.port || !is_dead(port, all)) continue;
      const bool is_explained = std::ranges::all_of(
          evidence_of(port, all), [&](const PortAttempt& one) { return one.is_of(fault.port); });
      if (is_explained && std::ranges::count(suspects, port->words()) == 0)
        suspects.push_back(port->words());
    }
  return suspects.empty() ? "" : "; or it is " + in_short(suspects) + " that is dead";
}

std::string seen_of(const PortFault& fault, const PortAttempts& all, const PortsOfHosts& ports,
                    const std::vector<Node>& nodes) {
  const PortAttempts coming =
      those_of(fault.attempts, [&](const PortAttempt& one) { return one.to == fault.port; });
  const PortAttempts leaving =
      those_of(fault.attempts, [&](const PortAttempt& one) { return one.from == fault.port; });
  std::string seen = coming.empty() ? "" : words_of_coming(*fault.port, coming, nodes);
  if (!leaving.empty()) seen += (seen.empty() ? "" : "; ") + words_of_leaving(*fault.port, leaving);
  if (fault.is_dead())
    seen += words_of_suspects(fault, all);
  else if (fault.attempts.size() > 1)
    seen += fmt::format("; {} attempts in all were lost so", fault.attempts.size());
  if (std::ranges::none_of(fault.attempts,
                           [&](const PortAttempt& one) { return goes_by_nic(one, ports); }))
    seen += "; RoCE may go another way, from the NIC's own interface";
  return seen;
}

std::string mend_of(const PortFault& fault, const PortsOfHosts& ports,
                    const std::vector<Node>& nodes) {
  const PortAttempt& first = fault.attempts.front();
  const PathFacts& path = *first.path;
  const std::string route =
      fmt::format("on {}: ip route get {}{} oif {}; let UDP port 4791 (RoCE v2) and TCP pass",
                  words_of_node_at(path.from, nodes), path.host,
                  path.source.empty() ? "" : " from " + path.source,
                  path.through.empty() ? "<the NIC's interface>" : path.through);
  const bool has_another = std::ranges::count(ports, fault.port->leader, &PortOfHost::leader) > 1;
  if (!fault.is_dead() || !has_another) return route;
  return route + "; look at its cable and switch port, or leave it out: CHIME_NIC=<another device>";
}

Finding port_finding(const PortFault& fault, const PortAttempts& all, const PortsOfHosts& ports,
                     const std::vector<Node>& nodes) {
  const bool is_sure = std::ranges::any_of(
      fault.attempts, [&](const PortAttempt& one) { return goes_by_nic(one, ports); });
  return {is_sure ? Level::kWrong : Level::kWarning, "RoCE addresses", fault.port->words(),
          seen_of(fault, all, ports, nodes), mend_of(fault, ports, nodes)};
}

// A warning, as of rails that hosts share: PEs may all take NICs of one.
Finding rails_finding(const PortFault& fault, const PortsOfHosts& ports,
                      const std::vector<Node>& nodes) {
  const PortAttempt& first = fault.attempts.front();
  const std::size_t n = fault.attempts.size();
  return {
      Level::kWarning, "RoCE addresses", "",
      fmt::format("TCP from {} does not reach {}: {}{}; another port of {} does: PEs whose NICs "
                  "have unequal numbers do not reach each other by NIC",
                  first.from->words(), first.to->words(), first.path->why,
                  n == 1 ? "" : fmt::format(", and so {} attempts in all", n), first.from->host),
      "CHIME_NIC=<a device> of one number on all hosts; or " + mend_of(fault, ports, nodes)};
}

}  // namespace

const PortOfHost* port_tried(const PathFacts& path, const PortsOfHosts& ports) {
  const auto port = std::ranges::find_if(ports, [&](const PortOfHost& one) {
    return one.leader == path.to && one.port->address == path.host;
  });
  return port == ports.end() ? nullptr : &*port;
}

bool is_at_same_port(const PathFacts& one, const PathFacts& other) {
  return one.to == other.to && one.host == other.host;
}

Findings unreached_findings(const PortsOfHosts& ports, const Job& job,
                            const std::vector<Node>& nodes) {
  const PortAttempts all = attempts_in(job, ports);
  Findings findings;
  for (const PortFault& fault : faults_in(all, ports))
    findings.push_back(fault.kind == PortFault::Kind::kRails
                           ? rails_finding(fault, ports, nodes)
                           : port_finding(fault, all, ports, nodes));
  return findings;
}

}  // namespace chime::doctor
