// What a PE leaves with the launcher for its peers, of one transport: written, and read by them. Of
// one version of Chime.
//
//   card        u32 interface version, card: of a transport that opens on demand
//   cards       the same, and offer of PE 0, offer of PE 1...
//   receipts    (u8 whether it is accepted, receipt) of PE 0, of PE 1...
#pragma once

#include <optional>
#include <span>
#include <string>

#include "host/transport/transport.hpp"

namespace chime::host {

// Under which name: cards, or the card alone; receipts.
std::string key_of_cards(Path way);
std::string key_of_receipts(Path way);

// All that read throw Error where PE `pe` runs another version of Chime.

CardBytes write_card(const Transport& transport);
CardBytes read_card(int pe, std::span<const std::byte> bytes);

CardBytes write_cards(Transport& transport, int n_pes);
struct Shown {
  CardBytes card, offer;
};
// What is for PE `me` of it.
Shown read_cards(int pe, std::span<const std::byte> bytes, int me);

CardBytes write_receipts(std::span<const Acceptance> acceptances);
// Empty if `pe` has not accepted PE `me`.
std::optional<CardBytes> read_receipt(int pe, std::span<const std::byte> bytes, int me);

}  // namespace chime::host
