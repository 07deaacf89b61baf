// The values that a PE leaves with the launcher for its peers, for one transport: written, and read
// by the peers. All PEs have one version of Chime.
//
//   endpoint info        u32 interface version, endpoint info: of a transport that opens on demand
//   endpoint infos       the same, and offer of PE 0, offer of PE 1...
//   receipts    (u8 whether it is accepted, receipt) of PE 0, of PE 1...
#pragma once

#include <optional>
#include <span>
#include <string>

#include "host/transport/transport.hpp"

namespace chime::host {

// The keys: of endpoint infos, or of the endpoint info alone; of receipts.
std::string key_of_endpoint_infos(Path path);
std::string key_of_receipts(Path path);

// All that read throw Error where PE `pe` runs another version of Chime.

EndpointInfoBytes write_endpoint_info(const Transport& transport);
EndpointInfoBytes read_endpoint_info(int pe, std::span<const std::byte> bytes);

EndpointInfoBytes write_endpoint_infos(Transport& transport, int n_pes);
struct Shown {
  EndpointInfoBytes endpoint_info, offer;
};
// The part of it that is for PE `me`.
Shown read_endpoint_infos(int pe, std::span<const std::byte> bytes, int me);

EndpointInfoBytes write_receipts(std::span<const Acceptance> acceptances);
// Empty if `pe` has not accepted PE `me`.
std::optional<EndpointInfoBytes> read_receipt(int pe, std::span<const std::byte> bytes, int me);

}  // namespace chime::host
