#include "host/diagnosis/facts/nic_choice.hpp"

#include <charconv>

namespace chime::doctor {

namespace {

// As host/transport/mlx5/nic/device_choice.cpp reads it: "01" is port 1. A text that it refuses is
// no port's.
std::string port_in(const std::string& text) {
  int port = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && at == end ? std::to_string(port) : text;
}

}  // namespace

bool NamedNic::is_at(const std::string& where) const {
  const std::string any_port = device + " port ";
  return where == device || (port ? where == any_port + *port : where.starts_with(any_port));
}

std::optional<NamedNic> named_nic(const host::NicOptions& nic) {
  if (nic.is_auto() || takes_no_device(nic)) return std::nullopt;
  const std::size_t colon = nic.device.rfind(':');
  if (colon == std::string::npos) return NamedNic{nic.device, std::nullopt};
  return NamedNic{nic.device.substr(0, colon), port_in(nic.device.substr(colon + 1))};
}

bool takes_no_device(const host::NicOptions& nic) { return nic.is_off() || nic.is_soft(); }

bool may_take(const host::NicOptions& nic, const std::string& where) {
  const auto named = named_nic(nic);
  return named ? named->is_at(where) : nic.is_auto();
}

bool names_no_mlx5_port(const Machine& machine) {
  const auto named = named_nic(machine.settings.nic);
  return named &&
         (devices_to_take(machine).empty() || (named->port && ports_to_take(machine).empty()));
}

std::vector<std::string> devices_to_take(const Machine& machine) {
  auto names = mlx5_devices(machine.root);
  std::erase_if(names,
                [&](const std::string& name) { return !may_take(machine.settings.nic, name); });
  return names;
}

std::vector<RdmaPort> ports_to_take(const Machine& machine) {
  auto ports = mlx5_ports(machine.root);
  std::erase_if(ports,
                [&](const RdmaPort& port) { return !may_take(machine.settings.nic, port.where); });
  return ports;
}

std::vector<PciDevice> pci_nics_to_take(const Machine& machine) {
  auto nics = mlx5_nics(machine.root);
  const auto named = named_nic(machine.settings.nic);
  if (!named) return machine.settings.nic.is_auto() ? nics : std::vector<PciDevice>();
  const std::string address = address_of(named->device, machine.root);
  if (!address.empty())
    std::erase_if(nics, [&](const PciDevice& nic) { return nic.address != address; });
  return nics;
}

}  // namespace chime::doctor
