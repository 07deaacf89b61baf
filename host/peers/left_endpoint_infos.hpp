// What a PE leaves with the launcher for its peers, of one transport: written, and read by them. Of
// one version of Chime.
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

// Under which name: endpoint infos, or the endpoint info alone; receipts.
std::string key_of_endpoint_infos(Path way);
std::string key_of_receipts(Path way);

// All that read throw Error where PE `pe` runs another version of Chime.

EndpointInfoBytes write_endpoint_info(const Transport& transport);
EndpointInfoBytes read_endpoint_info(int pe, std::span<const std::byte> bytes);

EndpointInfoBytes write_endpoint_infos(Transport& transport, int n_pes);
struct Shown {
  EndpointInfoBytes endpoint_info, offer;
};
// What is for PE `me` of it.
Shown read_endpoint_infos(int pe, std::span<const std::byte> bytes, int me);

EndpointInfoBytes write_receipts(std::span<const Acceptance> acceptances);
// Empty if `pe` has not accepted PE `me`.
std::optional<EndpointInfoBytes> read_receipt(int pe, std::span<const std::byte> bytes, int me);

}  // namespace chime::host
