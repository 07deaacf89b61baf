#include "host/transport/mlx5/nic/mlx5_gid.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

unsigned byte(const Gid& gid, std::size_t i) { return std::to_integer<unsigned>(gid[i]); }

bool is_ipv4(const Gid& gid) {
  for (std::size_t i = 0; i < 10; ++i)
    if (byte(gid, i) != 0) return false;
  return byte(gid, 10) == 0xff && byte(gid, 11) == 0xff;
}

const char* name_of(GidType type) {
  switch (type) {
    case GidType::kInfiniBand:
      return "InfiniBand";
    case GidType::kRoceV1:
      return "RoCE v1";
    case GidType::kRoceV2:
      return "RoCE v2";
  }
  return "unknown";
}

std::string listed(std::span<const GidEntry> table) {
  std::string text;
  for (const GidEntry& entry : table)
    if (!is_zero(entry.gid)) text += (text.empty() ? "" : ", ") + describe(entry);
  return text.empty() ? "the port has none" : "the port has " + text;
}

[[noreturn]] void refuse(const char* origin, const std::string& why,
                         std::span<const GidEntry> table) {
  throw Error(origin, CHIMEX_ERR_INVALID, why + "; " + listed(table));
}

GidEntry insisted(std::span<const GidEntry> table, bool ethernet, int wanted) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const GidEntry& entry) {
    return entry.index == static_cast<unsigned>(wanted) && !is_zero(entry.gid);
  });
  if (found == table.end())
    refuse("CHIME_NIC_GID_INDEX", fmt::format("the port has no GID at index {}", wanted), table);
  if (ethernet && found->type != GidType::kRoceV2)
    refuse("CHIME_NIC_GID_INDEX",
           fmt::format("index {} is {}, and Chime speaks RoCE v2", wanted, name_of(found->type)),
           table);
  return *found;
}

}  // namespace

bool is_zero(const Gid& gid) {
  return std::all_of(gid.begin(), gid.end(), [](std::byte b) { return b == std::byte{0}; });
}

GidReach reach_of(const Gid& gid) {
  if (is_ipv4(gid)) {
    if (byte(gid, 12) == 127) return GidReach::kIpv4Loopback;
    if (byte(gid, 12) == 169 && byte(gid, 13) == 254) return GidReach::kIpv4LinkLocal;
    return GidReach::kIpv4;
  }
  const bool link_local = byte(gid, 0) == 0xfe && (byte(gid, 1) & 0xc0) == 0x80;
  return link_local ? GidReach::kIpv6LinkLocal : GidReach::kIpv6;
}

GidEntry choose_gid(std::span<const GidEntry> table, bool ethernet, int wanted) {
  if (wanted >= 0) return insisted(table, ethernet, wanted);
  const GidEntry* best = nullptr;
  for (const GidEntry& entry : table) {
    if (is_zero(entry.gid) || (ethernet && entry.type != GidType::kRoceV2)) continue;
    const bool is_better = !best || (ethernet && reach_of(entry.gid) < reach_of(best->gid));
    if (is_better) best = &entry;
  }
  if (best) return *best;
  if (ethernet)
    refuse("NIC",
           "the port has no RoCE v2 address; give its network interface an IP address (ip addr "
           "add)",
           table);
  refuse("NIC", "the port has no GID; is a subnet manager running (sminfo)?", table);
}

bool same_family(const Gid& a, const Gid& b) { return is_ipv4(a) == is_ipv4(b); }

std::string text_of(const Gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, gid.data(), text, sizeof text);
  return text;
}

std::string describe(const GidEntry& entry) {
  return fmt::format("{} ({}, index {})", text_of(entry.gid), name_of(entry.type), entry.index);
}

}  // namespace chime::host::mlx5
