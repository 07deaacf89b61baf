// What RoCE asks of addresses and packets.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/diagnosis/checks/checks.hpp"
#include "host/diagnosis/checks/congestion.hpp"
#include "host/diagnosis/facts/nic_choice.hpp"

namespace chime::doctor {
namespace {

// Chime speaks RoCE v2 alone (host/transport/mlx5/nic/mlx5_gid.hpp). The kernel writes types as
// "IB/RoCE v1" and "RoCE v2", and makes an entry for each address of the port's interface:
// Documentation/ABI/stable/sysfs-class-infiniband.
Finding address_finding(const RdmaPort& port, const Machine& machine) {
  auto gids = gids_of(port, machine.root);
  const int wanted = machine.settings.nic.gid_index;
  if (wanted >= 0)
    std::erase_if(gids, [&](const Gid& gid) { return gid.index != std::to_string(wanted); });
  std::erase_if(gids, [](const Gid& gid) { return gid.type != "RoCE v2"; });
  const std::string name = port.interface_.empty() ? "<its interface>" : port.interface_;
  if (gids.empty() && wanted >= 0)
    return {Level::kWrong, "RoCE v2 address", port.where,
            fmt::format("CHIME_NIC_GID_INDEX={} is no RoCE v2 address", wanted),
            "unset CHIME_NIC_GID_INDEX, or take an index that show_gids marks v2"};
  if (gids.empty())
    return {Level::kWrong, "RoCE v2 address", port.where, "the port has none",
            fmt::format("ip addr add <address>/<length> dev {}", name)};
  const auto best = std::ranges::find_if_not(gids, &Gid::is_link_local);
  if (best == gids.end())
    return {Level::kWarning, "RoCE v2 address", port.where,
            "link-local ones alone, which no router forwards",
            fmt::format("ip addr add <address>/<length> dev {}", name)};
  return ok("RoCE v2 address", port.where, fmt::format("{} (index {})", best->text, best->index));
}

// Linux: include/rdma/ib_addr.h, iboe_get_mtu: a packet of the size and 96 bytes of headers fits
// the interface's MTU.
constexpr long long kHeaders = 96;

int roce_mtu(long long interface_mtu) {
  for (const int size : {4096, 2048, 1024, 512})
    if (size + kHeaders <= interface_mtu) return size;
  return 256;
}

std::optional<Finding> mtu_finding(const RdmaPort& port, const Root& root) {
  const auto mtu = root.number("/sys/class/net/" + port.interface_ + "/mtu");
  if (port.interface_.empty() || !mtu) return std::nullopt;
  const int size = roce_mtu(*mtu);
  const std::string seen =
      fmt::format("packets of {} bytes ({} has MTU {})", size, port.interface_, *mtu);
  if (size == 4096) return ok("MTU", port.where, seen);
  return Finding{
      Level::kWarning, "MTU", port.where, seen + ": 4096 are possible, with less overhead",
      fmt::format("ip link set {} mtu 9000, and the same at the switch", port.interface_)};
}

}  // namespace

Findings check_roce(const Machine& machine) {
  Findings findings;
  for (const RdmaPort& port : ports_to_take(machine)) {
    if (!port.is_ethernet || !port.is_active()) continue;
    findings.push_back(address_finding(port, machine));
    if (auto finding = mtu_finding(port, machine.root)) findings.push_back(*finding);
    for (Finding& finding : check_congestion(port, machine)) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace chime::doctor
