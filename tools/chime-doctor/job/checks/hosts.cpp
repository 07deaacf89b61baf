// Have all PEs come, and which of them can map each other's memory?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/chime-doctor/job/checks/checks.hpp"
#include "tools/chime-doctor/job/names.hpp"

namespace chime::doctor {
namespace {

std::string plural(std::size_t n, const char* word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

// Absent PEs, by why.
std::map<std::string, std::vector<int>> absent_by_cause(const Job& job) {
  std::map<std::string, std::vector<int>> all;
  for (const auto& [pe, why] : job.absent) all[why].push_back(pe);
  return all;
}

// Bootstrap/place.hpp: PEs of one kernel map each other's memory if the network namespace is the
// same, too. "boot id net:[number]".
std::string kernel_of(const std::string& node) { return node.substr(0, node.find(' ')); }

// Containers of one machine.
std::optional<Finding> apart_finding(const std::vector<Node>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t j = i + 1; j < nodes.size(); ++j)
      if (kernel_of(nodes[i].pes.front()->node) == kernel_of(nodes[j].pes.front()->node))
        return Finding{
            Level::kWarning, "network namespaces", "",
            fmt::format("{} and {} run on one machine in different network namespaces, and map no "
                        "memory of each other",
                        words_of_pes(nodes[i].numbers()), words_of_pes(nodes[j].numbers())),
            "put them into one container, or docker run --net=host --ipc=host"};
  return std::nullopt;
}

// PMIx launchers count PEs by the host's name.
std::optional<Finding> names_finding(const std::vector<Node>& nodes) {
  for (const Node& node : nodes)
    for (const Node& other : nodes)
      if (&node != &other && node.host == other.host &&
          kernel_of(node.pes.front()->node) != kernel_of(other.pes.front()->node))
        return Finding{
            Level::kWarning, "host names", "",
            fmt::format("{} and {} are different machines, both called {}: launchers "
                        "and error messages take them for one",
                        words_of_pes(node.numbers()), words_of_pes(other.numbers()), node.host),
            "hostnamectl set-hostname <another name> on one of them"};
  return std::nullopt;
}

// Bootstrap/peer_watch.hpp: a PE watches the processes of its node by their ids.
std::optional<Finding> processes_finding(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    std::set<std::string> spaces;
    for (const PeFacts* pe : node.pes) spaces.insert(pe->process_space);
    if (spaces.size() > 1)
      return Finding{Level::kWarning, "process ids", words_of(node, nodes),
                     fmt::format("{} have {} spaces of process ids: a PE does not notice by itself "
                                 "when one of another space ends",
                                 words_of_pes(node.numbers()), spaces.size()),
                     "put them into one container, or docker run --pid=host"};
  }
  return std::nullopt;
}

// A PE that has not come may be the one that claimed the host (leader.hpp).
Finding unseen_finding(const Node& node, const std::vector<Node>& nodes, const Job& job) {
  const std::string where = words_of(node, nodes);
  if (job.absent.empty())
    return {Level::kWarning, "host", where,
            "no PE has looked at it: another job of chime-doctor does",
            "run chime-doctor --job again"};
  std::vector<int> absent;
  for (const auto& [pe, why] : job.absent) absent.push_back(pe);
  return {Level::kWarning, "host", where,
          fmt::format("no PE has looked at it: the one that was to has not come ({})",
                      words_of_pes(absent)),
          "find out why it has not come, then run chime-doctor --job again"};
}

}  // namespace

Findings check_joined(const Job& job) {
  Findings findings;
  for (const PeFacts& pe : job.pes)
    if (job.n_pes == 1 && pe.n_started > 1)
      return {{Level::kWrong, "PEs", "",
               fmt::format("the launcher has started {} processes, and each is a job of its own",
                           pe.n_started),
               "srun --mpi=pmix (srun --mpi=list must show it); mpirun: one with PMIx, such as "
               "Open MPI"}};
  for (const auto& [why, pes] : absent_by_cause(job))
    findings.push_back(
        {Level::kWrong, "PEs", "",
         fmt::format("of {} PEs {} {} not come: {}", job.n_pes, words_of_pes(pes),
                     pes.size() == 1 ? "has" : "have", why),
         "look at what these PEs print; a firewall between their hosts and the "
         "launcher's: CHIME_BOOTSTRAP_IF; slow hosts: chime-doctor --job --wait 120"});
  if (job.absent.empty())
    findings.push_back(ok("PEs", "",
                          fmt::format("{} on {}", plural(job.pes.size(), "PE"),
                                      plural(nodes_of(job).size(), "host"))));
  return findings;
}

Findings check_hosts(const Job& job) {
  const std::vector<Node> nodes = nodes_of(job);
  Findings findings;
  for (const auto& finding : {apart_finding(nodes), names_finding(nodes), processes_finding(nodes)})
    if (finding) findings.push_back(*finding);
  for (const Node& node : nodes)
    if (node.leader == nullptr) findings.push_back(unseen_finding(node, nodes, job));
  if (findings.empty())
    findings.push_back(ok("namespaces", "", "the PEs of each host map each other's memory"));
  return findings;
}

}  // namespace chime::doctor
