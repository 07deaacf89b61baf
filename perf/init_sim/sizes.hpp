// The lengths of messages: computed by the code that makes them in a job.
#pragma once

#include <cstddef>

namespace chime::perf {

// A handshake of net/secure_channel, as frames.
struct HandshakeBytes {
  std::size_t challenge, hello, verdict;
};
HandshakeBytes handshake_bytes(std::size_t introduction);

// A sealed frame with that payload.
std::size_t frame_bytes(std::size_t payload);

// The data that a PE publishes of itself.
struct EndpointInfoBytesOf {
  std::size_t side_channel;  // its addresses: two besides the abstract one
  std::size_t nic, nic_offer, nic_receipt;
  std::size_t fabric;  // over tcp
  std::size_t node;    // to the node's hub
};
EndpointInfoBytesOf endpoint_info_bytes();

}  // namespace chime::perf
