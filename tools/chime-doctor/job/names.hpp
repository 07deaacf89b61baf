// How findings of a job name PEs and hosts.
#pragma once

#include <string>
#include <vector>

#include "tools/chime-doctor/job/facts.hpp"

namespace chime::doctor {

// "PE 3", "PEs 0-3, 7". `pes` ascend.
std::string words_of_pes(const std::vector<int>& pes);

// The PEs of a node, all with its name.
struct Node {
  std::string host;
  std::vector<const PeFacts*> pes;  // not empty
  const PeFacts* leader = nullptr;  // the one with facts of the host; null: none

  std::vector<int> numbers() const;
  // Its active ports that CHIME_NIC lets one of its PEs take, and its other active ones; none if it
  // has no leader.
  std::vector<const PortFacts*> ports() const;
  std::vector<const PortFacts*> excluded_ports() const;
};

// In the order of their first PEs.
std::vector<Node> nodes_of(const Job& job);

// "host3"; "host3 (PEs 0-1)" where nodes share the name.
std::string words_of(const Node& node, const std::vector<Node>& all);
// The node of the PE that looks at it; "PE 3" if it looks at none.
std::string words_of_node_at(int leader, const std::vector<Node>& all);

// "a, b and 7 more": at most a line of names.
std::string in_short(const std::vector<std::string>& names);

}  // namespace chime::doctor
