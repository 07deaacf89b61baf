#include "host/transport/mlx5/nic/device_choice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <tuple>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

namespace fs = std::filesystem;

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

// How many bridges two devices share, from the root: more is nearer.
int shared_bridges(const std::string& a, const std::string& b) {
  const fs::path first(a), second(b);
  auto [end, ignored] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  return static_cast<int>(std::distance(first.begin(), end));
}

// Sorts nearer devices first: same NUMA node, then the longer common way.
std::tuple<int, int> distance(const PciPlace& nic, const PciPlace& gpu) {
  if (gpu.path.empty()) return {0, 0};
  const bool same_node = nic.numa_node >= 0 && nic.numa_node == gpu.numa_node;
  return {same_node ? 0 : 1, -shared_bridges(nic.path, gpu.path)};
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

// Of devices that are equally near the PEs take one each in turn, or all would send by the first.
ChosenPort nearest(std::span<const Candidate> candidates, const PciPlace& gpu, int turn) {
  std::vector<ChosenPort> ports = active_ports(candidates);
  if (ports.empty()) refuse(CHIMEX_ERR_UNSUPPORTED, "no mlx5 port is active", candidates);
  const auto how_far = [&](const ChosenPort& port) {
    return distance(candidates[port.device].place, gpu);
  };
  std::stable_sort(ports.begin(), ports.end(), [&](const ChosenPort& a, const ChosenPort& b) {
    return how_far(a) < how_far(b);
  });
  const auto equals = std::count_if(ports.begin(), ports.end(), [&](const ChosenPort& port) {
    return how_far(port) == how_far(ports.front());
  });
  return ports[static_cast<std::size_t>(turn % equals)];
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
    refuse(CHIMEX_ERR_INVALID, fmt::format("there is no device '{}'", want.name), candidates);
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
  return {index, port->number};
}

std::string first_line(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

// libibverbs looks where SYSFS_PATH points; so does Chime.
fs::path sysfs_root() {
  const char* path = ::getuid() == ::geteuid() ? std::getenv("SYSFS_PATH") : nullptr;
  return path ? path : "/sys";
}

int number_in(const fs::path& file) {
  const std::string line = first_line(file);
  int number = -1;
  std::from_chars(line.data(), line.data() + line.size(), number);
  return number;
}

PciPlace place_of(const fs::path& link) {
  std::error_code error;
  const fs::path real = fs::canonical(link, error);
  if (error) return {};
  return {real.string(), number_in(real / "numa_node")};
}

}  // namespace

ChosenPort choose_port(std::span<const Candidate> candidates, const std::string& wanted,
                       const PciPlace& gpu, int turn) {
  if (wanted == "auto" || wanted == "soft") return nearest(candidates, gpu, turn);
  return named(candidates, wanted);
}

Candidate read_candidate(const std::string& name, const std::string& directory, bool is_mlx5) {
  const fs::path device(directory);
  Candidate candidate{name, is_mlx5, place_of(device / "device"), {}};
  std::error_code error;
  for (const auto& port : fs::directory_iterator(device / "ports", error))
    candidate.ports.push_back(
        {std::atoi(port.path().filename().c_str()), first_line(port.path() / "state")});
  std::sort(candidate.ports.begin(), candidate.ports.end(),
            [](const PortState& a, const PortState& b) { return a.number < b.number; });
  return candidate;
}

PciPlace place_of_pci_device(const std::string& address) {
  return address.empty() ? PciPlace{} : place_of(sysfs_root() / "bus/pci/devices" / address);
}

bool has_rdma_devices() {
  std::error_code error;
  const fs::directory_iterator devices(sysfs_root() / "class/infiniband", error), end;
  return !error && devices != end;
}

}  // namespace chime::host::mlx5
