#include "tools/chime-doctor/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "bootstrap/bootstrap.hpp"
#include "net/socket/error.hpp"
#include "net/socket/socket.hpp"
#include "tools/chime-doctor/job/checks/checks.hpp"
#include "tools/chime-doctor/job/exchange.hpp"
#include "tools/chime-doctor/job/leader.hpp"
#include "tools/chime-doctor/job/look.hpp"
#include "tools/chime-doctor/job/names.hpp"
#include "tools/chime-doctor/job/probe.hpp"
#include "tools/chime-doctor/job/targets.hpp"

namespace chime::doctor {
namespace {

using bootstrap::Deadline;
using std::chrono::milliseconds;

Deadline after(milliseconds time) { return std::chrono::steady_clock::now() + time; }

// In parts of the time that PEs have to come. A PE that cannot join ends when PE 0, which waits for
// it, has reported that: the launcher may end the job as soon as one fails.
struct Times {
  milliseconds come, try_paths, tell, join, hear;

  explicit Times(milliseconds wait)
      : come(wait), try_paths(wait / 4), tell(wait / 2), join(2 * wait), hear(4 * wait) {}
};

// This PE, in its job.
struct Member {
  std::unique_ptr<bootstrap::Bootstrap> bootstrap;
  std::unique_ptr<PathProbe> probe;  // null: another PE looks at the host, or it cannot listen
  bool looks = false;
  Times times;
  std::vector<PortFacts> ports = {};  // of the host, where it looks
};

// RoCE ports' addresses once more, for the NICs of others; nobody may listen there.
void add_addresses_of_ports(HostFacts& host) {
  if (host.addresses.empty()) return;
  const std::vector<ListeningAddress> listening = host.addresses;
  for (const PortFacts& port : host.ports) {
    if (!port.is_of_roce()) continue;
    const auto known = std::ranges::find(listening, port.address, &ListeningAddress::host);
    const std::uint16_t tcp = known == listening.end() ? listening.front().port : known->port;
    host.addresses.push_back({port.where, port.address, tcp, false, true, port.network});
  }
}

void start_listening(Member& member, const Machine& machine, HostFacts& host) try {
  bootstrap::Bootstrap& job = *member.bootstrap;
  member.probe = std::make_unique<PathProbe>(
      PathProbe::Options{{job.job_secret(), job.job_id(), "chime-doctor"},
                         job.rank(),
                         job.size(),
                         machine.settings.bootstrap_interface,
                         host.ports.size()});
  host.addresses = member.probe->addresses();
  if (host.addresses.empty()) host.why_not_listening = "no interface but loopback has an address";
  add_addresses_of_ports(host);
} catch (const std::exception& error) {
  host.why_not_listening = error.what();
}

// As RoCE does, by the port's interface and from its address.
bool may_connect_from(const PortFacts& port) try {
  return net::may_connect_from({port.interface, net::Address::internet(port.address, 0)});
} catch (const net::Error&) {
  return false;
}

// Where the kernel lets no connection leave as a port's do, the routes decide.
std::vector<PortFacts> with_usable_interfaces(std::vector<PortFacts> ports) {
  for (PortFacts& port : ports)
    if (!port.interface.empty() && !may_connect_from(port)) port.interface.clear();
  return ports;
}

void introduce(Member& member, const Machine& machine) {
  PeFacts facts = facts_of_pe(member.bootstrap->rank(), machine);
  if (member.looks) {
    facts.of_host = facts_of_host(machine);
    member.ports = with_usable_interfaces(facts.of_host->ports);
    if (member.bootstrap->size() > 1) start_listening(member, machine, *facts.of_host);
  }
  publish_facts(*member.bootstrap, facts);
}

// Clocks are compared with the first host's.
void keep_clocks_of_first(PairFacts& found, const std::vector<HostAddresses>& hosts) {
  std::erase_if(found.clocks, [&](const ClockFacts& clock) {
    return hosts.empty() || clock.than != hosts.front().pe;
  });
  if (found.clocks.size() > 1) found.clocks.resize(1);
}

// Those that PE 0 has left among the host's addresses: this PE alone does not know what the others
// of its node take.
std::vector<PortFacts> ports_to_try_from(const Member& member,
                                         const std::vector<HostAddresses>& hosts) {
  std::vector<PortFacts> ports = member.ports;
  const auto mine = std::ranges::find(hosts, member.bootstrap->rank(), &HostAddresses::pe);
  std::erase_if(ports, [&](const PortFacts& port) {
    return mine == hosts.end() ||
           std::ranges::none_of(mine->addresses, [&](const ListeningAddress& address) {
             return address.is_of_nic && address.interface == port.where;
           });
  });
  return ports;
}

void try_others(Member& member, const std::vector<HostAddresses>& hosts) {
  const int me = member.bootstrap->rank();
  PairFacts found;
  if (member.probe)
    found = member.probe->try_all(targets_of(me, ports_to_try_from(member, hosts), hosts),
                                  member.times.try_paths);
  keep_clocks_of_first(found, hosts);
  publish_pairs(*member.bootstrap, found);
}

std::vector<Subject> report_of(const Job& job) {
  std::vector<Subject> report = {{"Job", check_joined(job)},
                                 {"Namespaces", check_hosts(job)},
                                 {"Versions", check_same_versions(job)},
                                 {"Limits of PEs", check_same_limits(job)},
                                 {"Clocks", check_clocks(job)},
                                 {"Paths between hosts", check_paths(job)},
                                 {"NICs between hosts", check_ports(job)}};
  for (Subject& subject : reports_of_hosts(job)) report.push_back(std::move(subject));
  return report;
}

// Without those of ports that the node's PEs do not take.
std::vector<ListeningAddress> addresses_to_try(const Node& node) {
  std::vector<ListeningAddress> addresses = node.leader->of_host->addresses;
  for (const PortFacts* port : node.excluded_ports())
    std::erase_if(addresses, [&](const ListeningAddress& address) {
      return address.is_of_nic && address.interface == port->where;
    });
  return addresses;
}

std::vector<HostAddresses> hosts_in(const Job& job) {
  std::vector<HostAddresses> hosts;
  for (const Node& node : nodes_of(job))
    if (node.leader != nullptr) hosts.push_back({node.leader->pe, addresses_to_try(node)});
  return hosts;
}

int lead(Member& member, const std::function<int(const std::vector<Subject>&)>& print) {
  Job job = ask_all(*member.bootstrap, after(member.times.come));
  const std::vector<HostAddresses> hosts = hosts_in(job);
  publish_hosts(*member.bootstrap, hosts);
  const Deadline deadline = after(member.times.try_paths + member.times.tell);
  if (member.looks) try_others(member, hosts);
  if (hosts.size() > 1) ask_pairs(*member.bootstrap, hosts, job, deadline);
  const int code = print(report_of(job));
  publish_code(*member.bootstrap, code);
  wait_until_heard(*member.bootstrap, job, after(member.times.tell));
  return code;
}

int follow(Member& member) {
  if (member.looks) try_others(member, hosts_by_first(*member.bootstrap, after(member.times.hear)));
  return code_by_first(*member.bootstrap, after(member.times.hear));
}

std::vector<Subject> report_of_no_job(const std::string& why) {
  return {{"Job",
           {{Level::kWrong, "launcher", "", why,
             "the firewall and network to the launcher's host; CHIME_BOOTSTRAP_IF where chime-run "
             "runs"}}}};
}

// By the launcher's variables: a PE that cannot join does not know its number.
bool another_pe_reports() {
  for (const char* variable : {"CHIME_RUN_PE", "PMIX_RANK"})
    if (const char* const number = std::getenv(variable)) return std::string(number) != "0";
  return false;
}

// A PE that the launcher leaves alone. It may be refused at once, and PE 0 needs time. What it says
// goes to stderr, for PE 0's report is the only one.
int end_without_job(const std::string& why, Deadline end,
                    const std::function<int(const std::vector<Subject>&)>& print) {
  if (!another_pe_reports()) return print(report_of_no_job(why));
  std::fprintf(stderr, "chime-doctor: %s; waiting until PE 0 has reported\n", why.c_str());
  std::this_thread::sleep_until(end);
  return 1;
}

bootstrap::Settings settings_of(const Machine& machine, const Times& times) {
  return {.kind = machine.settings.bootstrap_kind,
          .interface = machine.settings.bootstrap_interface,
          .timeout = times.join};
}

}  // namespace

int diagnose_job(const JobOptions& options,
                 const std::function<int(const std::vector<Subject>& report)>& print) {
  const HostClaim claim;
  const Machine machine =
      claim.is_mine() ? look_at_machine(options.asking) : look_quickly_at_machine(options.asking);
  Member member{nullptr, nullptr, claim.is_mine(), Times(options.wait)};
  const Deadline end_of_joining = after(member.times.join);
  try {
    member.bootstrap = bootstrap::make_bootstrap(settings_of(machine, member.times));
  } catch (const bootstrap::BootstrapError& error) {
    return end_without_job(error.what(), end_of_joining, print);
  }
  const int me = member.bootstrap->rank();
  try {
    introduce(member, machine);
    return me == 0 ? lead(member, print) : follow(member);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chime-doctor: PE %d: %s\n", me, error.what());
    return 1;
  }
}

}  // namespace chime::doctor
