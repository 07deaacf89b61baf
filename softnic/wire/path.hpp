// Addresses of the fabric. All its NICs share one port: one LID, one MAC address, a few GIDs.
// Packets to any other address are lost, as on a real fabric. So a program with a wrong path waits
// in vain here, too.
#pragma once

#include <array>
#include <cstdint>

namespace softnic {

using Gid = std::array<std::uint8_t, 16>;

struct Path {
  std::uint16_t lid = 0;
  std::array<std::uint8_t, 6> mac{};
  Gid gid{};
};

// How many entries of the GID table are in use: the first ones.
unsigned gids_in_use();
Gid gid_of_port(unsigned index);
// On RoCE, v1 and v2 alternate in the table.
constexpr bool is_roce_v2(unsigned gid_index) { return gid_index % 2 == 1; }

// InfiniBand uses the LID, RoCE the MAC address and GID.
bool leads_to_port(const Path& path);

}  // namespace softnic
