// The facts that a PE shows its local peers about its heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace chime::host::p2p {

// Bytes between processes of one machine and one version of Chime.
struct EndpointInfo {
  std::uint64_t heap_bytes = 0;
  std::uint64_t heap_address = 0;    // for local peers that are threads of the same process
  std::byte fabric_handle[64] = {};  // counts where no descriptor travels beside the endpoint info
};
static_assert(std::is_trivially_copyable_v<EndpointInfo>);

}  // namespace chime::host::p2p
