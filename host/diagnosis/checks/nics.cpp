// The RDMA NICs: are they there, up, and open to Chime?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "host/diagnosis/checks/checks.hpp"
#include "host/diagnosis/facts/nic_choice.hpp"
#include "host/diagnosis/facts/pci.hpp"
#include "host/diagnosis/facts/rdma.hpp"
#include "host/diagnosis/facts/versions.hpp"

namespace chime::doctor {
namespace {

Finding without_devices(const Machine& machine) {
  if (sys_is_hidden(machine.root))
    return {Level::kWarning, "RDMA devices", "",
            "/sys, where libibverbs and Chime look for NICs, is hidden",
            "docker run -v /sys:/sys:ro --device=/dev/infiniband"};
  const auto others = other_rdma_devices(machine.root);
  const auto nics = pci_nics_to_take(machine);
  if (takes_no_device(machine.settings.nic) && !mlx5_nics(machine.root).empty())
    return ok("RDMA devices", "",
              fmt::format("none of NVIDIA's NICs: not judged, for CHIME_NIC={} takes none",
                          machine.settings.nic.device));
  if (!nics.empty())
    return {
        Level::kWrong, "RDMA devices", "",
        fmt::format("NVIDIA NICs stand at {} PCI address{}, and the kernel lists no RDMA device "
                    "of theirs",
                    nics.size(), nics.size() == 1 ? "" : "es"),
        "modprobe mlx5_ib"};
  if (!others.empty())
    return ok("RDMA devices", "",
              fmt::format("kernels drive mlx5 NICs alone (ConnectX-4 or newer); {} serves through "
                          "libfabric",
                          fmt::join(others, ", ")));
  return ok("RDMA devices", "", "none: PEs of other hosts are reached through libfabric");
}

// ---- CHIME_NIC

std::string names_of(const std::vector<RdmaPort>& ports) {
  std::vector<std::string> names;
  for (const RdmaPort& port : ports) names.push_back(port.where);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// Absent as well where the kernel lists no device of NICs that are there: then that is the fault.
std::optional<Finding> name_finding(const Machine& machine) {
  const bool are_unlisted =
      mlx5_devices(machine.root).empty() && !pci_nics_to_take(machine).empty();
  if (!names_no_mlx5_port(machine) || are_unlisted || sys_is_hidden(machine.root))
    return std::nullopt;
  return Finding{Level::kWrong, "CHIME_NIC", "",
                 fmt::format("no port is called '{}': here are {}", machine.settings.nic.device,
                             names_of(mlx5_ports(machine.root))),
                 "unset CHIME_NIC, or take one of these: CHIME_NIC=<device> or <device>:<port>"};
}

// Absent: it excludes none.
std::optional<Finding> exclusion_finding(const Machine& machine) {
  auto excluded = mlx5_ports(machine.root);
  std::erase_if(excluded,
                [&](const RdmaPort& port) { return may_take(machine.settings.nic, port.where); });
  if (excluded.empty()) return std::nullopt;
  return ok(
      "CHIME_NIC", "",
      fmt::format("{} excludes {}: not judged", machine.settings.nic.device, names_of(excluded)));
}

// rdma-core's Documentation/udev.md: programs open a NIC by /dev/infiniband/uverbs<n>. A NIC that
// was opened has its file, wherever that is.
Finding device_files_finding(const Machine& machine) {
  const auto files = machine.root.names("/dev/infiniband");
  const auto is_uverbs = [](const std::string& name) { return name.starts_with("uverbs"); };
  const auto is_open = [](const auto& nic) { return nic.second.empty(); };
  if (std::ranges::any_of(files, is_uverbs) ||
      std::ranges::any_of(machine.probes.why_no_devx, is_open))
    return ok("device files", "", "programs open NICs");
  return {Level::kWrong, "device files", "",
          "/dev/infiniband has no uverbs file: no program opens a NIC",
          "modprobe ib_uverbs; in a container: docker run --device=/dev/infiniband"};
}

// States and physical states: Documentation/ABI/stable/sysfs-class-infiniband. INIT waits for a
// subnet manager; Polling finds no partner on the cable; Disabled is an interface that is down.
std::string remedy_for(const RdmaPort& port) {
  if (port.state.find("INIT") != std::string::npos && !port.is_ethernet)
    return "start a subnet manager (opensm, or the switch's): sminfo must find one";
  if (port.physical.find("Disabled") != std::string::npos && port.is_ethernet)
    return fmt::format("ip link set {} up",
                       port.interface_.empty() ? "<its interface>" : port.interface_);
  return "look at cable, module and switch port: mlxlink -d " + port.nic;
}

Finding link_finding(const RdmaPort& port, bool another_is_active, const char* none_is_active) {
  if (port.is_active()) return ok("link", port.where, port.rate);
  const std::string seen = fmt::format("state {}, physical state {}", port.state, port.physical);
  if (another_is_active)
    return {Level::kWarning, "link", port.where, seen + ": Chime uses other ports",
            remedy_for(port)};
  return {Level::kWrong, "link", port.where, seen + none_is_active, remedy_for(port)};
}

Findings link_findings(const std::vector<RdmaPort>& ports, bool are_named) {
  const bool one_serves = std::ranges::any_of(ports, &RdmaPort::is_active);
  Findings findings;
  for (const RdmaPort& port : ports)
    findings.push_back(link_finding(
        port, one_serves,
        are_named ? ": no port that CHIME_NIC names is active" : ": no port is active"));
  return findings;
}

// DPDK's doc/guides/platform/mlx5.rst: UCTX_EN opens DevX. mlx5dv_open_device(3) fails without it.
Finding devx_finding(const std::string& nic, const std::string& why_not, const Machine& machine) {
  if (why_not.empty()) return ok("DevX", nic, "open");
  const bool matters = !nvidia_gpus(machine.root).empty();
  const std::string address = address_of(nic, machine.root);
  return {matters ? Level::kWrong : Level::kWarning, "DevX", nic,
          fmt::format("the kernel gives no context ({}): queues cannot lie in GPU memory", why_not),
          fmt::format("mlxconfig -d {} set UCTX_EN=1, then reboot; in a container add "
                      "--cap-add=NET_RAW --device=/dev/infiniband",
                      address.empty() ? nic : address)};
}

// Functions that older ones lack: host/transport/mlx5/nic/rdma_core.hpp.
std::optional<Finding> rdma_core_finding(const Machine& machine) {
  if (!machine.probes.why_no_rdma_core.empty())
    return Finding{Level::kWrong, "rdma-core", "", machine.probes.why_no_rdma_core,
                   "apt-get install libibverbs1 ibverbs-providers"};
  const auto version = rdma_core_version(machine.root);
  if (!version) return std::nullopt;
  const std::string text = std::to_string(*version);
  if (*version < 34)
    return Finding{Level::kWrong, "rdma-core", "",
                   text + ": before 34 it lacks functions that Chime calls",
                   "install rdma-core 43 or newer"};
  if (*version < 36)
    return Finding{
        Level::kWarning, "rdma-core", "",
        text + ": before 36 it does not say whether writes come in order, so fences wait",
        "install rdma-core 43 or newer"};
  if (*version < 43 && !nvidia_gpus(machine.root).empty())
    return Finding{Level::kWarning, "rdma-core", "",
                   text +
                       ": before 43 it takes no dma-buf for queues, which stay in host memory "
                       "unless nvidia-peermem is loaded",
                   "install rdma-core 43 or newer"};
  return ok("rdma-core", "", text);
}

// Documentation/ABI/stable/sysfs-class-infiniband, and NVIDIA's "Understanding mlx5 Linux
// counters". They count since the driver was loaded.
constexpr std::pair<const char*, const char*> kCounters[] = {
    {"/hw_counters/local_ack_timeout_err", "answers that did not come in time"},
    {"/hw_counters/packet_seq_err", "packets asked for again"},
    {"/hw_counters/rnr_nak_retry_err", "receivers that were never ready"},
    {"/counters/link_downed", "losses of the link"},
    {"/counters/symbol_error", "symbol errors"},
    {"/counters/port_rcv_errors", "packets received with errors"},
};

std::optional<Finding> counters_finding(const RdmaPort& port, const Root& root) {
  if (!port.is_active()) return std::nullopt;
  std::vector<std::string> bad;
  bool are_there = false;
  for (const auto& [file, words] : kCounters) {
    const auto count = root.number(port.folder + file);
    are_there = are_there || count;
    if (count.value_or(0) > 0) bad.push_back(fmt::format("{} {}", *count, words));
  }
  if (!are_there) return std::nullopt;
  if (bad.empty()) return ok("error counters", port.where, "all zero");
  return Finding{Level::kWarning, "error counters", port.where,
                 fmt::format("since the driver was loaded: {}", fmt::join(bad, ", ")),
                 fmt::format("if they grow while a job runs, look at cable and flow control: "
                             "mlxlink -d {} -c; grep . {}/hw_counters/*",
                             port.nic, port.folder)};
}

// In the order in which a PE that opens a NIC would meet them.
void add_findings_of_taken(const Machine& machine, Findings& findings) {
  const auto ports = ports_to_take(machine);
  if (auto finding = rdma_core_finding(machine)) findings.push_back(*finding);
  const bool are_named = named_nic(machine.settings.nic).has_value();
  for (Finding& finding : link_findings(ports, are_named)) findings.push_back(std::move(finding));
  findings.push_back(device_files_finding(machine));
  for (const auto& [nic, why_not] : machine.probes.why_no_devx)
    if (may_take(machine.settings.nic, nic))
      findings.push_back(devx_finding(nic, why_not, machine));
  for (const RdmaPort& port : ports)
    if (auto finding = counters_finding(port, machine.root)) findings.push_back(*finding);
}

}  // namespace

Findings check_nics(const Machine& machine) {
  Findings findings;
  if (mlx5_devices(machine.root).empty()) findings.push_back(without_devices(machine));
  for (const auto& finding : {name_finding(machine), exclusion_finding(machine)})
    if (finding) findings.push_back(*finding);
  if (!devices_to_take(machine).empty()) add_findings_of_taken(machine, findings);
  return findings;
}

}  // namespace chime::doctor
