#include "tools/chime-doctor/job/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/diagnosis/facts/nic_choice.hpp"

namespace chime::doctor {
namespace {

constexpr std::size_t kMostNames = 8;

bool takes(const PeFacts& pe, const PortFacts& port) {
  host::NicOptions nic;
  nic.device = pe.nic;
  return may_take(nic, port.where);
}

std::vector<const PortFacts*> ports_of(const Node& node, bool are_taken) {
  std::vector<const PortFacts*> ports;
  if (node.leader == nullptr) return ports;
  for (const PortFacts& port : node.leader->of_host->ports) {
    const auto takes_it = [&](const PeFacts* pe) { return takes(*pe, port); };
    if (std::ranges::any_of(node.pes, takes_it) == are_taken) ports.push_back(&port);
  }
  return ports;
}

}  // namespace

std::string words_of_pes(const std::vector<int>& pes) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < pes.size();) {
    std::size_t end = i + 1;
    while (end < pes.size() && pes[end] == pes[end - 1] + 1) ++end;
    ranges.push_back(end - i == 1 ? std::to_string(pes[i])
                                  : fmt::format("{}-{}", pes[i], pes[end - 1]));
    i = end;
  }
  return fmt::format("PE{} {}", pes.size() == 1 ? "" : "s", fmt::join(ranges, ", "));
}

std::vector<int> Node::numbers() const {
  std::vector<int> all;
  for (const PeFacts* pe : pes) all.push_back(pe->pe);
  return all;
}

std::vector<const PortFacts*> Node::ports() const { return ports_of(*this, true); }
std::vector<const PortFacts*> Node::excluded_ports() const { return ports_of(*this, false); }

std::vector<Node> nodes_of(const Job& job) {
  std::vector<Node> nodes;
  for (const PeFacts& pe : job.pes) {
    auto node = std::ranges::find_if(
        nodes, [&](const Node& one) { return one.pes.front()->node == pe.node; });
    if (node == nodes.end()) node = nodes.insert(node, Node{pe.host, {}});
    node->pes.push_back(&pe);
    if (pe.of_host) node->leader = &pe;
  }
  return nodes;
}

std::string words_of(const Node& node, const std::vector<Node>& all) {
  if (std::ranges::count(all, node.host, &Node::host) == 1) return node.host;
  return fmt::format("{} ({})", node.host, words_of_pes(node.numbers()));
}

std::string words_of_node_at(int leader, const std::vector<Node>& all) {
  for (const Node& node : all)
    if (node.leader != nullptr && node.leader->pe == leader) return words_of(node, all);
  return fmt::format("PE {}", leader);
}

std::string in_short(const std::vector<std::string>& names) {
  if (names.size() <= kMostNames) return fmt::format("{}", fmt::join(names, ", "));
  const std::vector<std::string> first(names.begin(), names.begin() + kMostNames);
  return fmt::format("{} and {} more", fmt::join(first, ", "), names.size() - kMostNames);
}

}  // namespace chime::doctor
