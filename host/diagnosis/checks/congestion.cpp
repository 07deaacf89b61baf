#include "host/diagnosis/checks/congestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

namespace chime::doctor {
namespace {

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

// Null: nothing is known.
const FlowControl* flow_control_of(const RdmaPort& port, const Machine& machine) {
  const auto found = machine.probes.flow_control.find(port.interface_);
  const bool is_known =
      found != machine.probes.flow_control.end() && found->second.lossless_priorities.has_value();
  return is_known ? &found->second : nullptr;
}

// Linux, drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c: the driver lists priorities of DSCPs
// if the port goes by these, and else none; then the service level is the priority. Where nothing
// is known, a DSCP of d has priority d / 8, as mlnx_qos shows it unless somebody sets another.
int priority_of(const RdmaPort& port, const Machine& machine) {
  const int dscp = traffic_class_of(port, machine) >> 2;
  const FlowControl* const flow = flow_control_of(port, machine);
  if (flow == nullptr) return dscp >> 3;
  if (flow->priority_of_dscp.empty())
    return static_cast<int>(machine.settings.nic.service_level & 7);
  const auto entry = flow->priority_of_dscp.find(dscp);
  return entry == flow->priority_of_dscp.end() ? 0 : entry->second;
}

// Linux, "net/mlx5: QPTS and QPDPM register firmware command support": a port takes each packet's
// priority from its VLAN tag or from its DSCP. Absent: no DSCP, which the traffic class's line
// says.
std::optional<Finding> priority_finding(const RdmaPort& port, const Machine& machine) {
  const int dscp = traffic_class_of(port, machine) >> 2;
  const FlowControl* const flow = flow_control_of(port, machine);
  if (flow == nullptr || dscp == 0) return std::nullopt;
  if (flow->priority_of_dscp.empty())
    return Finding{Level::kWarning, "priority", port.where,
                   fmt::format("{} goes by VLAN tags and not by DSCP {}: packets that come without "
                               "a tag have priority 0",
                               port.interface_, dscp),
                   fmt::format("mlnx_qos -i {} --trust dscp", port.interface_)};
  return ok("priority", port.where, fmt::format("{} by DSCP {}", priority_of(port, machine), dscp));
}

// NVIDIA's driver manual, "Explicit Congestion Notification": files of its driver, by priority.
struct Ecn {
  std::string folder;
  int priority;
  std::vector<std::string> off;  // "roce_np": notices congestion; "roce_rp": slows down
};

// Absent: the driver does not say, as Linux's own.
std::optional<Ecn> ecn_of(const RdmaPort& port, const Machine& machine) {
  Ecn ecn{"/sys/class/net/" + port.interface_ + "/ecn/", priority_of(port, machine), {}};
  if (port.interface_.empty()) return std::nullopt;
  bool is_known = true;
  for (const char* side : {"roce_np", "roce_rp"}) {
    const auto enabled =
        machine.root.number(fmt::format("{}{}/enable/{}", ecn.folder, side, ecn.priority));
    is_known = is_known && enabled;
    if (enabled == 0) ecn.off.push_back(side);
  }
  if (!is_known && ecn.off.empty()) return std::nullopt;
  return ecn;
}

std::optional<Finding> ecn_finding(const RdmaPort& port, const Machine& machine) {
  const auto ecn = ecn_of(port, machine);
  if (!ecn) return std::nullopt;
  const bool is_pfc_known = flow_control_of(port, machine) != nullptr;
  if (ecn->off.empty())
    return ok("ECN", port.where,
              fmt::format("on for priority {}{}", ecn->priority,
                          is_pfc_known ? "" : "; PFC: mlnx_qos -i " + port.interface_));
  return Finding{
      Level::kWarning, "ECN", port.where,
      fmt::format("off for priority {} ({}): a full switch slows nobody down", ecn->priority,
                  fmt::join(ecn->off, ", ")),
      fmt::format("echo 1 | tee {}roce_{{np,rp}}/enable/{}", ecn->folder, ecn->priority)};
}

// "0,0,0,1,0,0,0,0".
std::string list_with(int priority) {
  std::vector<int> list(8);
  list[static_cast<std::size_t>(priority & 7)] = 1;
  return fmt::format("{}", fmt::join(list, ","));
}

// IEEE 802.1Qbb, as dcb-pfc(8) has it: a priority with PFC is lossless. So is a link that pauses as
// a whole. With ECN alone senders slow down, and what is lost meanwhile is sent again. Where the
// driver does not say whether one of these is so, the port may well be in order.
std::optional<Finding> pfc_finding(const RdmaPort& port, const Machine& machine) {
  const FlowControl* const flow = flow_control_of(port, machine);
  if (flow == nullptr || traffic_class_of(port, machine) == 0) return std::nullopt;
  const int priority = priority_of(port, machine);
  if ((*flow->lossless_priorities >> priority & 1) != 0)
    return ok("PFC", port.where, fmt::format("on for priority {}", priority));
  const std::string off = fmt::format("off for priority {}", priority);
  if (flow->pauses.value_or(false))
    return ok("PFC", port.where, off + "; the link pauses as a whole");
  const auto ecn = ecn_of(port, machine);
  if (!ecn) return ok("PFC", port.where, off + "; whether ECN is on is not known");
  if (ecn->off.empty()) return ok("PFC", port.where, off + "; ECN slows senders down");
  if (!flow->pauses) return ok("PFC", port.where, off + "; whether the link pauses is not known");
  return Finding{
      Level::kWarning, "PFC", port.where,
      off + ": where a link is full, packets are dropped and sent again",
      fmt::format("mlnx_qos -i {} --pfc {} (or dcb pfc set dev {} prio-pfc {}:on), and the same at "
                  "the switch",
                  port.interface_, list_with(priority), port.interface_, priority)};
}

}  // namespace

Findings check_congestion(const RdmaPort& port, const Machine& machine) {
  Findings findings{traffic_class_finding(port, machine)};
  for (auto& finding :
       {priority_finding(port, machine), pfc_finding(port, machine), ecn_finding(port, machine)})
    if (finding) findings.push_back(*finding);
  return findings;
}

}  // namespace chime::doctor
