#include "host/setup/transports.hpp"

#include "host/transport/mlx5/open.hpp"
#include "host/transport/ofi/open.hpp"
#include "host/transport/p2p/transport.hpp"

namespace chime::host {

std::span<const TransportKind> transport_kinds() {
  static constexpr TransportKind kAll[] = {
      {"sharing memory with the node", "mapping the node's PEs", "writing the table of heaps",
       open_p2p},
      {"opening the NIC", "connecting queue pairs", "writing the NIC's tables", open_mlx5},
      {"opening the fabric", "exchanging the fabric's addresses", "starting the proxy", open_ofi},
  };
  return kAll;
}

}  // namespace chime::host
