// What is wrong with single hosts: equal lines of several hosts are one.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "tools/chime-doctor/job/checks/checks.hpp"
#include "tools/chime-doctor/job/names.hpp"

namespace chime::doctor {
namespace {

struct Shared {
  Finding finding;
  std::vector<std::string> hosts;
};
using Titled = std::vector<std::pair<std::string, std::vector<Shared>>>;

bool are_equal(const Finding& a, const Finding& b) {
  const auto all = [](const Finding& one) {
    return std::tie(one.level, one.what, one.where, one.seen, one.mend);
  };
  return all(a) == all(b);
}

std::vector<Shared>& entry_of(Titled& all, const std::string& title) {
  const auto found = std::ranges::find(all, title, &Titled::value_type::first);
  return found != all.end() ? found->second : all.emplace_back(title, std::vector<Shared>()).second;
}

void add(std::vector<Shared>& all, const Finding& finding, const std::string& host) {
  auto found =
      std::ranges::find_if(all, [&](const Shared& one) { return are_equal(one.finding, finding); });
  if (found == all.end()) found = all.insert(found, {finding, {}});
  found->hosts.push_back(host);
}

Subject subject_of(const std::string& title, const std::vector<Shared>& shared,
                   std::size_t n_hosts) {
  Subject subject{title, {}};
  for (const auto& [finding, hosts] : shared) {
    const std::string places = hosts.size() == n_hosts && n_hosts > 1
                                   ? fmt::format("all {} hosts", n_hosts)
                                   : in_short(hosts);
    Finding line = finding;
    line.where = finding.where.empty() ? places : fmt::format("{} on {}", finding.where, places);
    subject.findings.push_back(std::move(line));
  }
  return subject;
}

}  // namespace

std::vector<Subject> reports_of_hosts(const Job& job) {
  const std::vector<Node> nodes = nodes_of(job);
  Titled all;
  Findings well;
  for (const Node& node : nodes) {
    if (node.leader == nullptr) continue;
    const std::string name = words_of(node, nodes);
    well.push_back(
        ok("its own checks", name, fmt::format("{} are ok", node.leader->of_host->n_ok)));
    for (const Subject& subject : node.leader->of_host->report)
      for (const Finding& finding : subject.findings)
        add(entry_of(all, subject.title), finding, name);
  }
  std::vector<Subject> report{{"Hosts", well}};
  for (const auto& [title, shared] : all) report.push_back(subject_of(title, shared, nodes.size()));
  return report;
}

}  // namespace chime::doctor
