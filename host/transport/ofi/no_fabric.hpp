// The transport of a PE that has no fabric where others may have one: it says why, and is refused.
#pragma once

#include <string>

#include "host/transport/transport.hpp"

namespace chime::host::ofi {

class NoFabric final : public Transport {
 public:
  NoFabric(std::string why, bool opens_on_demand);

  Capabilities capabilities() const override;
  std::string describe() const override { return "no fabric: " + why_; }
  bool is_stand_in() const override { return true; }

  OwnEndpointInfo own_endpoint_info() const override;
  Acceptance accept(int, const PeerEndpointInfo&) override { return {}; }
  std::string why_not(int) const override { return "this PE has no fabric: " + why_; }

  bool is_used() const override { return !opens_on_demand_ || first_has_; }
  bool opens_on_demand() const override { return opens_on_demand_; }
  bool finds_peers() const override { return opens_on_demand_; }
  bool agrees_with_first(std::span<const std::byte> endpoint_info) override;

  void make_view(ChannelTables&) override {}

 private:
  const std::string why_;
  const bool opens_on_demand_;
  bool first_has_ = false;  // PE 0, a fabric
};

}  // namespace chime::host::ofi
