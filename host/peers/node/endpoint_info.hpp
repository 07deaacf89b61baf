// The facts that a PE gives its local peers about itself, and the descriptors of its memory that go
// with them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "bootstrap/peer_watch.hpp"
#include "chime/abi/context.h"
#include "net/socket/descriptor.hpp"

namespace chime::host {

// Bytes on a socket between processes of one machine and one version of Chime.
struct NodeEndpointInfo {
  std::uint32_t abi_version = kAbiVersion;
  std::int32_t pe = -1;
  bootstrap::ProcessEndpointInfo process;  // also for the watch over it
  std::uint64_t control_bytes = 0;
  std::uint64_t control_address = 0;  // for local peers that are threads of the same process
  // The endpoint info of the transport that maps local peers' memory.
  std::uint32_t transport_bytes = 0;
  std::uint32_t transport_has_descriptor = 0;
  std::byte transport[128] = {};

  std::span<const std::byte> transport_endpoint_info() const {
    return std::span(transport).first(transport_bytes);
  }
};
static_assert(std::is_trivially_copyable_v<NodeEndpointInfo>);

// A local peer as the exchange found it.
struct LocalPeer {
  NodeEndpointInfo endpoint_info;
  net::Descriptor transport;  // empty where none travels
  net::Descriptor control;
};

}  // namespace chime::host
