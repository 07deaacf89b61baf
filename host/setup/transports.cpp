#include "host/setup/transports.hpp"

#include "host/diagnosis/sentence.hpp"
#include "host/transport/mlx5/open.hpp"
#include "host/transport/ofi/open.hpp"
#include "host/transport/p2p/transport.hpp"

namespace chime::host {

std::span<const TransportKind> transport_kinds() {
  static constexpr TransportKind kAll[] = {
      {"sharing memory with the node", "mapping the node's PEs", "writing the table of heaps",
       open_p2p, nullptr},
      {"opening the NIC", "connecting queue pairs", "writing the NIC's tables", open_mlx5,
       doctor::why_no_nic},
      {"opening the fabric", "exchanging the fabric's addresses", "starting the proxy", open_ofi,
       nullptr},
  };
  return kAll;
}

std::string diagnosis_of(const Transport& transport, const Settings& settings) {
  if (transport.capabilities().path != Path::kNic || !transport.is_stand_in()) return {};
  return doctor::why_no_nic(settings);
}

std::string diagnosis_of(const Shortfall& shortfall, const Settings& settings) {
  switch (shortfall.of) {
    case Shortfall::Of::kQueuesInHostMemory:
      return doctor::why_queues_are_far(settings);
    case Shortfall::Of::kDoorbellsOfHostThread:
      return doctor::why_kernels_do_not_ring(settings);
  }
  return {};
}

}  // namespace chime::host
