// How long the messages are: made by the code that makes them in a job.
#pragma once

#include <cstddef>

namespace chime::perf {

// Of a handshake by net/secure_channel, as frames.
struct HandshakeBytes {
  std::size_t challenge, hello, verdict;
};
HandshakeBytes handshake_bytes(std::size_t introduction);

// A sealed frame with so much in it.
std::size_t frame_bytes(std::size_t payload);

// What a PE says of itself.
struct EndpointInfoBytesOf {
  std::size_t side_channel;  // where it listens: two addresses beside the abstract one
  std::size_t nic, nic_offer, nic_receipt;
  std::size_t fabric;  // over tcp
  std::size_t node;    // to the node's hub
};
EndpointInfoBytesOf endpoint_info_bytes();

}  // namespace chime::perf
