// What RoCE asks of addresses, packets and switches.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/diagnosis/checks/checks.hpp"
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

// NVIDIA's driver manual, "RoCE", section "Setting QoS": its driver has a traffic class for all
// packets of a device, written as "Global tclass=106". Linux's own driver has no such file.
std::optional<int> global_traffic_class(const RdmaPort& port, const Root& root) {
  const auto text = root.text("/sys/class/infiniband/" + port.nic + "/tc/1/traffic_class");
  if (!text || text->find('=') == std::string::npos) return std::nullopt;
  return std::atoi(text->c_str() + text->find('=') + 1);
}

int traffic_class_of(const RdmaPort& port, const Machine& machine) {
  const int asked = static_cast<int>(machine.settings.nic.traffic_class);
  return global_traffic_class(port, machine.root).value_or(asked);
}

Finding traffic_class_finding(const RdmaPort& port, const Machine& machine) {
  const int now = traffic_class_of(port, machine);
  const int asked = static_cast<int>(machine.settings.nic.traffic_class);
  if (asked != 0 && asked != now)
    return {Level::kWarning, "traffic class", port.where,
            fmt::format("the driver sends all with {}, not with CHIME_NIC_TCLASS={}", now, asked),
            fmt::format("echo {} > /sys/class/infiniband/{}/tc/1/traffic_class", asked, port.nic)};
  if (now == 0)
    return {
        Level::kWarning, "traffic class", port.where,
        "0: switches treat packets as ordinary ones, and drop them where a link is full",
        "set CHIME_NIC_TCLASS to the class that your switches keep lossless (often 106: DSCP 26)"};
  return ok("traffic class", port.where, fmt::format("{} (DSCP {})", now, now >> 2));
}

// NVIDIA's driver manual, "Explicit Congestion Notification": files of its driver, by priority; a
// DSCP of d has priority d / 8 unless mlnx_qos says otherwise. PFC is in no file.
std::optional<Finding> congestion_finding(const RdmaPort& port, const Machine& machine) {
  const std::string folder = "/sys/class/net/" + port.interface_ + "/ecn/";
  if (port.interface_.empty() || !machine.root.has(folder)) return std::nullopt;
  const int priority = traffic_class_of(port, machine) >> 5;
  std::vector<std::string> off;
  for (const char* side : {"roce_np", "roce_rp"})
    if (machine.root.number(fmt::format("{}{}/enable/{}", folder, side, priority)).value_or(1) == 0)
      off.push_back(side);
  if (off.empty())
    return ok("ECN", port.where,
              fmt::format("on for priority {}; PFC: mlnx_qos -i {}", priority, port.interface_));
  return Finding{Level::kWarning, "ECN", port.where,
                 fmt::format("off for priority {} ({}): a full switch slows nobody down", priority,
                             fmt::join(off, ", ")),
                 fmt::format("echo 1 | tee {}roce_{{np,rp}}/enable/{}", folder, priority)};
}

}  // namespace

Findings check_roce(const Machine& machine) {
  Findings findings;
  for (const RdmaPort& port : ports_to_take(machine)) {
    if (!port.is_ethernet || !port.is_active()) continue;
    findings.push_back(address_finding(port, machine));
    if (auto finding = mtu_finding(port, machine.root)) findings.push_back(*finding);
    findings.push_back(traffic_class_finding(port, machine));
    if (auto finding = congestion_finding(port, machine)) findings.push_back(*finding);
  }
  return findings;
}

}  // namespace chime::doctor
