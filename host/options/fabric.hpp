// The user's choices for fabrics that the host drives. host/settings/env.cpp fills them, and its
// table explains each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/options/connect.hpp"

namespace chime::host {

struct FabricOptions {
  static constexpr std::string_view kOff = "off";
  std::string provider = "auto";  // auto, kOff, or a provider's name as libfabric has it
  std::string interface = {};     // whose address PEs get; empty: chosen by fabric/provider
  std::uint64_t timeout_ns =
      30'000'000'000;  // without a sign of life, and a peer is lost; 0: never

  Connect connect = Connect::kAuto;  // that is: when their addresses are looked up

  bool opens_on_demand(int n_pes) const { return host::opens_on_demand(connect, n_pes); }
  bool is_off() const { return provider == kOff; }
  bool is_auto() const { return provider == "auto"; }
};

}  // namespace chime::host
