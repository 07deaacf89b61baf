// The nodes of a job as one PE knows them, those that are gone, and which of them keep a connection
// to each other. A node goes by its lowest PE.
//
// The tree follows from this alone, so that nodes that know the same have the same. Above node m is
// the node of PE (m - 1) / 2; if that is gone, the one above it, and so on. If all of them are
// gone, the lowest node that is left; it has nobody above.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "net/mesh/fields.hpp"

namespace chime::host {

struct NodeRecord {
  std::string host;      // its name, for people
  std::vector<int> pes;  // ascending
  net::Bytes addresses;  // where it listens

  int node() const { return pes.front(); }
  void write(net::Writer& message) const;
  // Throws net::Error{kProtocol} if it makes no sense in a job of `n_pes`.
  static NodeRecord read(net::Reader& message, int n_pes);
};

class Roster {
 public:
  static constexpr int kNobody = -1;   // above the root
  static constexpr int kUnknown = -2;  // that node is not in the roster yet

  explicit Roster(int n_pes) : node_of_(static_cast<std::size_t>(n_pes), kUnknown) {}

  // False if it is there already.
  bool add(NodeRecord record);
  // False if it is gone already. A node that is gone stays so.
  bool remove(int node);

  const std::map<int, NodeRecord>& nodes() const { return nodes_; }
  bool is_gone(int node) const { return gone_.contains(node); }
  int node_of(int pe) const { return node_of_[static_cast<std::size_t>(pe)]; }

  // The node above, kNobody or kUnknown.
  int above(int node) const;
  // The nodes that are known to be below it.
  std::vector<int> below(int node) const;

 private:
  int lowest_that_is_left() const;
  bool is_below(int node, int other) const { return !is_gone(node) && above(node) == other; }

  std::map<int, NodeRecord> nodes_;
  std::set<int> gone_;
  std::vector<int> node_of_;  // [pe]
};

}  // namespace chime::host
