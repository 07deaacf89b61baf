#include "host/diagnosis/facts/nic_choice.hpp"

namespace chime::doctor {

bool NamedNic::is_at(const std::string& where) const {
  const std::string any_port = device + " port ";
  return where == device || (port.empty() ? where.starts_with(any_port) : where == any_port + port);
}

std::optional<NamedNic> named_nic(const host::NicOptions& nic) {
  if (nic.is_auto() || takes_no_device(nic)) return std::nullopt;
  const std::size_t colon = nic.device.find(':');
  const bool has_port = colon != std::string::npos;
  return NamedNic{nic.device.substr(0, colon), has_port ? nic.device.substr(colon + 1) : ""};
}

bool takes_no_device(const host::NicOptions& nic) { return nic.is_off() || nic.is_soft(); }

bool may_take(const host::NicOptions& nic, const std::string& where) {
  const auto named = named_nic(nic);
  return named ? named->is_at(where) : nic.is_auto();
}

bool names_no_mlx5_port(const Machine& machine) {
  const auto named = named_nic(machine.settings.nic);
  return named && (devices_to_take(machine).empty() ||
                   (!named->port.empty() && ports_to_take(machine).empty()));
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
