// Where and how a node's PEs meet: what hub and guests must agree on.
//
//   guest -> hub    introduction: u32 interface version, u32 bytes of an endpoint info
//                   NodeEndpointInfo, and the descriptors of its memory: the transport's if it has
//                   one, the control page's
//   hub -> guest    so many frames as it takes: NodeEndpointInfo..., and the descriptors of each
#pragma once

#include <span>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "host/peers/node/endpoint_info.hpp"
#include "net/secure/key_schedule.hpp"
#include "net/socket/address.hpp"
#include "net/socket/connection.hpp"

namespace chime::host {

// An endpoint info with the descriptors that travel beside it, borrowed.
struct OfferedEndpointInfo {
  NodeEndpointInfo endpoint_info;
  int transport_fd = -1;
  int control_fd = -1;
};

// Two descriptors each: fewer than one message may carry.
inline constexpr std::size_t kEndpointInfosAMessage = 64;
inline constexpr net::SecureChannel::Limits kNodeLimits{
    .frame_bytes = kEndpointInfosAMessage * sizeof(NodeEndpointInfo) + 256};

net::Credentials node_credentials(const bootstrap::Bootstrap& bootstrap);

// Names that the hub may listen at, in the order of trying. Only a process that knows the job's
// secret can compute the names in advance. But once the socket is there, all processes see its
// name, and could take it before the PEs of a next chime_init come. So there are several.
std::vector<net::Address> node_names(const net::Credentials& credentials, int hub);

// The introduction of a guest, and the reason why it is not let in: empty if it is.
net::Bytes node_introduction();
std::string why_not_of_this_version(const net::Bytes& introduction, int guest, int hub);

void send_endpoint_infos(net::Connection& connection,
                         std::span<const OfferedEndpointInfo> endpoint_infos);
// Throws net::Error if it makes no sense.
std::vector<LocalPeer> receive_endpoint_infos(net::Connection& connection,
                                              const net::Bytes& message);

}  // namespace chime::host
