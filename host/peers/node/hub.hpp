// The node's lowest PE: collects all endpoint infos, then sends the whole set to everyone.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "host/peers/node/meeting.hpp"
#include "host/peers/node/wait.hpp"
#include "net/mesh/gate.hpp"

namespace chime::host {

class NodeHub final : private net::ConnectionOwner {
 public:
  // `guests`: the node's other PEs. Listens when it returns.
  NodeHub(const bootstrap::Bootstrap& bootstrap, std::vector<int> guests, NodeWait& wait);
  ~NodeHub();

  // Returns the guests in PE order, when each has been sent all. Throws Error.
  std::vector<LocalPeer> meet(const OfferedEndpointInfo& mine);

 private:
  struct Guest {
    std::shared_ptr<net::Connection> connection;
    LocalPeer local_peer{};
    bool has_shown_endpoint_info = false;
    std::size_t sent = 0;  // endpoint infos
  };

  void admit(std::shared_ptr<net::Connection> guest);
  std::string why_refused(const net::Connection& guest) const;
  void send_more(Guest& guest);
  std::vector<int> without_endpoint_info() const;
  std::vector<int> without_set() const;
  bool has_all(const Guest& guest) const { return guest.sent == endpoint_infos_.size(); }
  Guest& guest_of(const net::Connection& connection) {
    return guests_.at(static_cast<int>(connection.tag));
  }

  void on_frame(net::Connection& connection, net::Bytes message) override;
  void on_drained(net::Connection& connection) override { send_more(guest_of(connection)); }
  void on_end(net::Connection& connection, const net::Error& why) override;

  NodeWait& wait_;
  const int me_;
  net::Reactor reactor_;
  std::map<int, Guest> guests_;
  std::vector<OfferedEndpointInfo>
      endpoint_infos_;  // to be sent to all; empty while some are missing
  std::unique_ptr<net::Gate> gate_;
};

}  // namespace chime::host
