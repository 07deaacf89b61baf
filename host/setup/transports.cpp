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
  if (transport.capabilities().path != Path::kNic) return {};
  if (transport.is_stand_in()) return doctor::why_no_nic(settings);
  return transport.shortfalls().empty() ? std::string() : doctor::why_gpu_falls_short(settings);
}

}  // namespace chime::host
