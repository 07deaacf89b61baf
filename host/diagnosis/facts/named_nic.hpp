// What CHIME_NIC names: a device, and perhaps a port of it.
#pragma once

#include <optional>
#include <string>

#include "host/options/nic.hpp"

namespace chime::doctor {

struct NamedNic {
  std::string device, port;  // "mlx5_0", "1"; port empty: any

  // Whether a finding at `where` is about it: "mlx5_0", "mlx5_0 port 1".
  bool is_at(const std::string& where) const;
};

// Absent: CHIME_NIC leaves the choice to Chime, or takes none or the emulated one.
std::optional<NamedNic> named_nic(const host::NicOptions& nic);

}  // namespace chime::doctor
