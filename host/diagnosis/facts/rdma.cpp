#include "host/diagnosis/facts/rdma.hpp"

#include <algorithm>
#include <cstdlib>

#include "host/diagnosis/facts/pci.hpp"

namespace chime::doctor {
namespace {

constexpr char kRdmaClass[] = "/sys/class/infiniband/";
constexpr char kEmptyGid[] = "0000:0000:0000:0000:0000:0000:0000:0000";

// Devices may have any name (rocep3s0). Their hca_type has the chip's PCI device id, in decimal:
// MT4129 (Linux, hca_type_show of drivers/infiniband/hw/mlx4/main.c and mlx5/main.c).
bool is_mlx5(const std::string& nic, const Root& root) {
  const std::string driver = root.name_behind(kRdmaClass + nic + "/device/driver");
  if (!driver.empty()) return driver.starts_with("mlx5");
  const std::string hca_type = root.text(kRdmaClass + nic + "/hca_type").value_or("");
  return nic.starts_with("mlx5") ||
         (hca_type.starts_with("MT") && !is_older_than_mlx5(std::atoll(hca_type.c_str() + 2)));
}

RdmaPort port_of(const std::string& nic, const std::string& number, const Root& root) {
  RdmaPort port;
  port.nic = nic;
  port.where = nic + " port " + number;
  port.folder = kRdmaClass + nic + "/ports/" + number;
  const auto read = [&](const char* file) { return root.text(port.folder + file).value_or(""); };
  port.state = read("/state");
  port.physical = read("/phys_state");
  port.rate = read("/rate");
  port.interface_ = read("/gid_attrs/ndevs/0");
  port.is_ethernet = read("/link_layer") == "Ethernet";
  return port;
}

}  // namespace

std::vector<std::string> mlx5_devices(const Root& root) {
  auto names = root.names(kRdmaClass);
  std::erase_if(names, [&](const std::string& nic) { return !is_mlx5(nic, root); });
  return names;
}

std::vector<std::string> other_rdma_devices(const Root& root) {
  auto names = root.names(kRdmaClass);
  std::erase_if(names, [&](const std::string& nic) { return is_mlx5(nic, root); });
  return names;
}

std::vector<RdmaPort> mlx5_ports(const Root& root) {
  std::vector<RdmaPort> ports;
  for (const std::string& nic : mlx5_devices(root))
    for (const std::string& number : root.names(kRdmaClass + nic + "/ports"))
      ports.push_back(port_of(nic, number, root));
  return ports;
}

std::vector<Gid> gids_of(const RdmaPort& port, const Root& root) {
  std::vector<Gid> gids;
  for (const std::string& index : root.names(port.folder + "/gids")) {
    const std::string text = root.text(port.folder + "/gids/" + index).value_or(kEmptyGid);
    if (text == kEmptyGid) continue;
    gids.push_back(
        {index, text, root.text(port.folder + "/gid_attrs/types/" + index).value_or("")});
  }
  const auto number = [](const Gid& gid) { return std::atoi(gid.index.c_str()); };
  std::ranges::sort(gids, {}, number);
  return gids;
}

std::string address_of(const std::string& nic, const Root& root) {
  const std::string name = root.name_behind(kRdmaClass + nic + "/device");
  return name.find(':') == std::string::npos ? std::string() : name;
}

}  // namespace chime::doctor
