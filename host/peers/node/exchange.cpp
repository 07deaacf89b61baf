#include "host/peers/node/exchange.hpp"

#include "host/peers/node/guest.hpp"
#include "host/peers/node/hub.hpp"

namespace chime::host {

std::vector<LocalPeer> exchange_with_node(const bootstrap::Bootstrap& bootstrap,
                                          const NodeEndpointInfo& mine, int transport_fd,
                                          int control_fd, bootstrap::Deadline deadline) try {
  const std::vector<int>& members = bootstrap.node().pes;
  if (members.size() <= 1) return {};
  NodeWait wait(bootstrap, deadline);
  const OfferedEndpointInfo endpoint_info{mine, transport_fd, control_fd};
  if (mine.pe == members.front())
    return NodeHub(bootstrap, {members.begin() + 1, members.end()}, wait).meet(endpoint_info);
  return NodeGuest(bootstrap, members, wait).meet(endpoint_info);
} catch (const net::Error& error) {
  fail_to_meet(CHIMEX_ERR_SYSTEM, error.what());
}

}  // namespace chime::host
