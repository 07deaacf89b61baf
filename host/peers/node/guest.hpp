// All PEs of a node but the lowest: show their endpoint info to the hub, and get everyone's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "host/peers/node/meeting.hpp"
#include "host/peers/node/wait.hpp"
#include "net/socket/dial.hpp"

namespace chime::host {

class NodeGuest final : private net::ConnectionOwner {
 public:
  // `members`: the node's PEs, the hub first.
  NodeGuest(const bootstrap::Bootstrap& bootstrap, std::vector<int> members, NodeWait& wait);
  ~NodeGuest();

  // Returns the node's other PEs in PE order. Throws Error.
  std::vector<LocalPeer> meet(const OfferedEndpointInfo& mine);

 private:
  // The hub may hang up after its last message.
  bool has_all() const { return local_peers_.size() == members_.size(); }
  [[noreturn]] void fail();

  void on_frame(net::Connection& connection, net::Bytes message) override;
  void on_end(net::Connection&, const net::Error& why) override { end_ = why; }

  NodeWait& wait_;
  const int me_;
  const std::vector<int> members_;
  net::Reactor reactor_;
  std::shared_ptr<net::Connection> hub_;
  std::optional<net::Error> end_;
  std::vector<LocalPeer> local_peers_;  // this PE included
  std::optional<net::Dial> dial_;
};

}  // namespace chime::host
