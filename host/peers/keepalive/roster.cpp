#include "host/peers/keepalive/roster.hpp"

#include <algorithm>
#include <utility>

namespace chime::host {

void NodeRecord::write(net::Writer& message) const {
  message.text(host).bytes(addresses).put(static_cast<std::uint32_t>(pes.size()));
  for (const int pe : pes) message.put(static_cast<std::int32_t>(pe));
}

NodeRecord NodeRecord::read(net::Reader& message, int n_pes) {
  NodeRecord record;
  record.host = message.text();
  const auto addresses = message.bytes();
  record.addresses.assign(addresses.begin(), addresses.end());
  int last = -1;
  for (auto n = message.get<std::uint32_t>(); n > 0; --n) {
    const int pe = message.get<std::int32_t>();
    if (pe <= last || pe >= n_pes)
      throw net::Error(net::Fault::kProtocol, "a node's list of PEs makes no sense");
    record.pes.push_back(last = pe);
  }
  if (record.pes.empty()) throw net::Error(net::Fault::kProtocol, "a node without a PE");
  return record;
}

bool Roster::add(NodeRecord record) {
  const int node = record.node();
  if (nodes_.contains(node)) return false;
  for (const int pe : record.pes) node_of_[static_cast<std::size_t>(pe)] = node;
  nodes_.emplace(node, std::move(record));
  return true;
}

bool Roster::remove(int node) { return gone_.insert(node).second; }

int Roster::above(int node) const {
  for (int at = node; at > 0;) {
    at = node_of((at - 1) / 2);
    if (at == kUnknown) return kUnknown;
    if (!is_gone(at)) return at;
  }
  const int lowest = lowest_that_is_left();
  return lowest == node ? kNobody : lowest;
}

int Roster::lowest_that_is_left() const {
  const auto left =
      std::ranges::find_if(nodes_, [this](const auto& n) { return !is_gone(n.first); });
  return left == nodes_.end() ? kNobody : left->first;
}

std::vector<int> Roster::below(int node) const {
  std::vector<int> found;
  if (gone_.empty()) {  // all nodes are where they began
    const int n_pes = static_cast<int>(node_of_.size());
    for (const int pe : nodes_.at(node).pes)
      for (const int child : {2 * pe + 1, 2 * pe + 2})
        if (child < n_pes && node_of(child) == child) found.push_back(child);
    return found;
  }
  for (const auto& [other, record] : nodes_)
    if (other != node && is_below(other, node)) found.push_back(other);
  return found;
}

}  // namespace chime::host
