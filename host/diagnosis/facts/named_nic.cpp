#include "host/diagnosis/facts/named_nic.hpp"

namespace chime::doctor {

bool NamedNic::is_at(const std::string& where) const {
  const std::string any_port = device + " port ";
  return where == device || (port.empty() ? where.starts_with(any_port) : where == any_port + port);
}

std::optional<NamedNic> named_nic(const host::NicOptions& nic) {
  if (nic.is_auto() || nic.is_off() || nic.is_soft()) return std::nullopt;
  const std::size_t colon = nic.device.find(':');
  const bool has_port = colon != std::string::npos;
  return NamedNic{nic.device.substr(0, colon), has_port ? nic.device.substr(colon + 1) : ""};
}

}  // namespace chime::doctor
