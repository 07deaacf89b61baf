#include "host/transport/mlx5/nic/device_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

std::string listed(std::span<const Candidate> candidates) {
  std::string text;
  for (const Candidate& candidate : candidates)
    for (const PortState& port : candidate.ports)
      text += fmt::format("{}{}:{} ({}{})", text.empty() ? "" : ", ", candidate.name, port.number,
                          port.state, candidate.is_mlx5 ? "" : ", not mlx5");
  return text.empty() ? "there is no RDMA device here" : "here are " + text;
}

[[noreturn]] void refuse(chimex_status code, const std::string& why,
                         std::span<const Candidate> candidates) {
  throw Error("CHIME_NIC", code, why + "; " + listed(candidates));
}

// The first active port of each mlx5 device that has one.
std::vector<ChosenPort> active_ports(std::span<const Candidate> candidates) {
  std::vector<ChosenPort> found;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& ports = candidates[i].ports;
    const auto port = std::find_if(ports.begin(), ports.end(), std::mem_fn(&PortState::is_active));
    if (candidates[i].is_mlx5 && port != ports.end()) found.push_back({i, port->number});
  }
  return found;
}

std::string why_this(const Candidate& nic, const Goal& goal, std::size_t equals, std::size_t all) {
  if (all == 1) return "the only active mlx5 port";
  const std::string turns = fmt::format("{} of {} taken in turn by the node's PEs", equals, all);
  const std::string part = smallest_shared_part(nic.place, goal.place);
  const std::string by = goal.why_not_by_hwloc.empty()
                             ? ""
                             : fmt::format(" (by sysfs alone: {})", goal.why_not_by_hwloc);
  if (part.empty()) return turns + ", near or far" + by;
  if (equals == all) return fmt::format("{}: all are in {} with {}{}", turns, part, goal.what, by);
  return fmt::format("nearest to {}: both in {}{}{}", goal.what, part,
                     equals == 1 ? "" : "; " + turns, by);
}

// PEs take equally near devices in turn, or all would send by the first.
ChosenPort nearest(std::span<const Candidate> candidates, const Goal& goal, int turn) {
  std::vector<ChosenPort> ports = active_ports(candidates);
  if (ports.empty()) refuse(CHIMEX_ERR_UNSUPPORTED, "no mlx5 port is active", candidates);
  const auto nearness = [&](const ChosenPort& port) {
    return shared_parts(candidates[port.device].place, goal.place);
  };
  const std::size_t most = nearness(*std::ranges::max_element(ports, {}, nearness));
  const std::size_t all = ports.size();
  std::erase_if(ports, [&](const ChosenPort& port) { return nearness(port) != most; });
  ChosenPort chosen = ports[static_cast<std::size_t>(turn) % ports.size()];
  chosen.why = why_this(candidates[chosen.device], goal, ports.size(), all);
  return chosen;
}

struct WantedPort {
  std::string name;
  std::optional<int> port;
};

WantedPort parse(const std::string& wanted) {
  const auto colon = wanted.rfind(':');
  if (colon == std::string::npos) return {wanted, std::nullopt};
  int port = 0;
  const char* end = wanted.data() + wanted.size();
  const auto [at, error] = std::from_chars(wanted.data() + colon + 1, end, port);
  if (error != std::errc{} || at != end)
    throw Error("CHIME_NIC", CHIMEX_ERR_INVALID,
                fmt::format("'{}' does not end with a port number", wanted));
  return {wanted.substr(0, colon), port};
}

ChosenPort named(std::span<const Candidate> candidates, const std::string& wanted) {
  const WantedPort want = parse(wanted);
  const auto device = std::find_if(candidates.begin(), candidates.end(),
                                   [&](const Candidate& c) { return c.name == want.name; });
  if (device == candidates.end())
    refuse(CHIMEX_ERR_INVALID,
           fmt::format("there is no device '{}' (allowed: auto, off, soft, a device's name)",
                       want.name),
           candidates);
  if (!device->is_mlx5)
    refuse(CHIMEX_ERR_UNSUPPORTED,
           fmt::format("'{}' is not an mlx5 device (ConnectX-4 or newer)", want.name), candidates);
  const auto index = static_cast<std::size_t>(device - candidates.begin());
  const auto usable = [&](const PortState& port) {
    return want.port ? port.number == *want.port : port.is_active();
  };
  const auto port = std::find_if(device->ports.begin(), device->ports.end(), usable);
  if (port == device->ports.end())
    refuse(CHIMEX_ERR_INVALID,
           want.port ? fmt::format("'{}' has no port {}", want.name, *want.port)
                     : fmt::format("no port of '{}' is active", want.name),
           candidates);
  if (!port->is_active())
    refuse(CHIMEX_ERR_UNSUPPORTED,
           fmt::format("port {} of '{}' is down: check the cable and the switch (ibstat)",
                       port->number, want.name),
           candidates);
  return {index, port->number, "named by CHIME_NIC"};
}

}  // namespace

bool nearness_decides(std::span<const Candidate> candidates, const std::string& wanted) {
  return wanted == "auto" && active_ports(candidates).size() > 1;
}

ChosenPort choose_port(std::span<const Candidate> candidates, const std::string& wanted,
                       const Goal& goal, int turn) {
  if (wanted == "auto" || wanted == "soft") return nearest(candidates, goal, turn);
  return named(candidates, wanted);
}

}  // namespace chime::host::mlx5
