// Do the hosts reach each other by TCP, as start-up, side channel and libfabric's tcp do?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

#include "tools/chime-doctor/job/checks/checks.hpp"
#include "tools/chime-doctor/job/names.hpp"
#include "tools/chime-doctor/job/plan.hpp"

namespace chime::doctor {
namespace {

using Outcome = PathFacts::Outcome;
using Attempts = std::vector<const PathFacts*>;

bool is_open(const PathFacts* path) { return path->outcome == Outcome::kOpen; }

bool was_tried(const PathFacts& path) { return path.outcome != Outcome::kNotTried; }

// By the host that was tried, and then by the one that did.
std::map<int, std::map<int, Attempts>> attempts_in(const Job& job) {
  std::map<int, std::map<int, Attempts>> all;
  for (const PathFacts& path : job.found.paths)
    if (path.listens && was_tried(path)) all[path.to][path.from].push_back(&path);
  return all;
}

std::string words_of(const Attempts& attempts) {
  std::vector<std::string> each;
  for (const PathFacts* path : attempts)
    each.push_back(fmt::format("{} ({}): {}", path->host, path->interface,
                               is_open(path) ? "open" : path->why));
  return fmt::format("{}", fmt::join(each, "; "));
}

// By the first: a PE tries them in that order.
std::string remedy_for(const Attempts& attempts, const std::string& from, const std::string& to) {
  const PathFacts& first = *attempts.front();
  if (first.outcome == Outcome::kNoWay)
    return fmt::format("on {}: ip route get {}; ip link", from, first.host);
  if (first.outcome == Outcome::kSilent)
    return fmt::format(
        "on {}: nft list ruleset (or iptables -L), and let TCP in from the job's hosts; or "
        "CHIME_BOOTSTRAP_IF=<an interface without a firewall>",
        to);
  return fmt::format(
      "on {}: nft list ruleset (or iptables -L) for a rule that rejects; is {} an address of that "
      "host alone? Else CHIME_BOOTSTRAP_IF=<another interface>",
      to, first.host);
}

// A PE tries a host's addresses in turn, for three seconds each (net/socket/dial.hpp).
const PathFacts* first_delay(const Attempts& attempts) {
  const auto open = std::ranges::find_if(attempts, is_open);
  const auto silent = std::find_if(attempts.begin(), open, [](const PathFacts* path) {
    return path->outcome == Outcome::kSilent;
  });
  return silent == open ? nullptr : *silent;
}

// Adds the findings of one host that was tried.
void add_findings(int to, const std::map<int, Attempts>& tries, const std::vector<Node>& nodes,
                  Findings& findings) {
  std::vector<std::string> cut_off, slowed;
  const Attempts* why = nullptr;
  const PathFacts* delay = nullptr;
  for (const auto& [from, attempts] : tries) {
    const std::string name = words_of_node_at(from, nodes);
    if (std::ranges::none_of(attempts, is_open)) {
      cut_off.push_back(name);
      if (why == nullptr) why = &attempts;
    } else if (const PathFacts* silent = first_delay(attempts)) {
      slowed.push_back(name);
      if (delay == nullptr) delay = silent;
    }
  }
  const std::string host = words_of_node_at(to, nodes);
  if (!cut_off.empty())
    findings.push_back({Level::kWrong, "TCP", host,
                        fmt::format("not reached from {}: {}", in_short(cut_off), words_of(*why)),
                        remedy_for(*why, cut_off.front(), host)});
  if (!slowed.empty())
    findings.push_back({Level::kWarning, "TCP", host,
                        fmt::format("from {} its address {} ({}) is silent, and is tried for 3 s "
                                    "before one that answers",
                                    in_short(slowed), delay->host, delay->interface),
                        "CHIME_BOOTSTRAP_IF=<the interface that connects the hosts>"});
}

void add_hosts_that_did_not_try(const Job& job, const std::vector<Node>& nodes,
                                Findings& findings) {
  for (const auto& [pe, why] : job.why_no_pairs)
    findings.push_back({Level::kWarning, "TCP", words_of_node_at(pe, nodes),
                        "what it reaches is not known: " + why,
                        "chime-doctor --job --wait 120 waits longer"});
  for (const Node& node : nodes)
    if (node.leader != nullptr && !node.leader->of_host->why_not_listening.empty())
      findings.push_back({Level::kWrong, "TCP", words_of(node, nodes),
                          node.leader->of_host->why_not_listening,
                          "ip addr: an interface that is up and has an address; CHIME_BOOTSTRAP_IF "
                          "may name it"});
}

// Whether attempts failed with this number of errno, of which facts have the words alone.
bool is_because_of(int error, const std::string& why) {
  return why.find(std::generic_category().message(error)) != std::string::npos;
}

// ENFILE's words begin with EMFILE's.
std::string mend_of_exhaustion(const std::string& why) {
  std::string what = "look at its limits and memory (ulimit -a, free -m)";
  if (is_because_of(ENFILE, why))
    what = "end processes, or sysctl -w fs.file-max=<more> (sysctl fs.file-nr: files in use)";
  else if (is_because_of(EMFILE, why))
    what = "ulimit -n 65536";
  else if (is_because_of(ENOBUFS, why) || is_because_of(ENOMEM, why))
    what = "leave memory to the kernel (free -m, and the memory limit of its container or job)";
  return what + " there, then run chime-doctor --job again";
}

// Attempts that had no descriptor say nothing of the way.
void add_attempts_that_were_not_made(const Job& job, const std::vector<Node>& nodes,
                                     Findings& findings) {
  std::map<std::pair<int, std::string>, int> n_by_host_and_reason;
  for (const PathFacts& path : job.found.paths)
    if (!was_tried(path)) ++n_by_host_and_reason[{path.from, path.why}];
  for (const auto& [key, n] : n_by_host_and_reason) {
    const auto& [from, why] = key;
    findings.push_back(
        {Level::kWarning, "TCP", words_of_node_at(from, nodes),
         fmt::format("{} of its {} attempts to reach others were not made: {}", n,
                     std::ranges::count(job.found.paths, from, &PathFacts::from), why),
         mend_of_exhaustion(why)});
  }
}

}  // namespace

Findings check_paths(const Job& job) {
  const std::vector<Node> nodes = nodes_of(job);
  if (nodes.size() < 2) return {ok("TCP", "", "one host: its PEs meet at unix sockets")};
  Findings findings;
  std::size_t n_paths = 0;
  for (const auto& [to, tries] : attempts_in(job)) {
    n_paths += tries.size();
    add_findings(to, tries, nodes, findings);
  }
  add_hosts_that_did_not_try(job, nodes, findings);
  add_attempts_that_were_not_made(job, nodes, findings);
  if (findings.empty())
    findings.push_back(ok("TCP", "",
                          fmt::format("all {} paths that were tried between {} hosts "
                                      "are open ({})",
                                      n_paths, nodes.size(), words_of_plan(nodes.size()))));
  return findings;
}

}  // namespace chime::doctor
