// Which of a port's addresses (GIDs) peers get. A pure function of the port's table.
#pragma once

#include <span>
#include <string>

#include "host/transport/mlx5/queues/queue_pair.hpp"

namespace chime::host::mlx5 {

enum class GidType { kInfiniBand, kRoceV1, kRoceV2 };

struct GidEntry {
  unsigned index;
  GidType type;
  Gid gid;
};

// How far an address of RoCE reaches, the better ones first. IPv4 is preferred at equal reach:
// clusters route it more often.
enum class GidReach {
  kIpv4,           // ::ffff:a.b.c.d
  kIpv6,           // global or unique local
  kIpv4LinkLocal,  // 169.254/16
  kIpv6LinkLocal,  // fe80::/10
  kIpv4Loopback,   // 127/8: emulated NICs
};
GidReach reach_of(const Gid& gid);
bool is_zero(const Gid& gid);

// RoCE: the RoCE v2 entry of the best reach, the lowest index among equals; version 1 is never
// chosen. InfiniBand: the first entry that is set. `wanted` >= 0 (CHIME_NIC_GID_INDEX) insists on
// an entry. Throws Error that lists what the table has.
GidEntry choose_gid(std::span<const GidEntry> table, bool ethernet, int wanted);

// Whether two RoCE ports can talk by these addresses: both IPv4, or both IPv6.
bool same_family(const Gid& a, const Gid& b);

// "::ffff:10.0.0.1 (RoCE v2, index 3)".
std::string describe(const GidEntry& entry);
std::string text_of(const Gid& gid);

}  // namespace chime::host::mlx5
