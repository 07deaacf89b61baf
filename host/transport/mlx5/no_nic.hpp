// The transport of a PE that has no NIC where others may have one: it says why, and is refused.
#pragma once

#include <string>

#include "host/transport/transport.hpp"

namespace chime::host::mlx5 {

class NoNic final : public Transport {
 public:
  NoNic(std::string why, bool opens_on_demand);

  Capabilities capabilities() const override;
  std::string describe() const override { return "no NIC: " + why_; }
  bool is_stand_in() const override { return true; }

  OwnEndpointInfo own_endpoint_info() const override;
  Acceptance accept(int pe, const PeerEndpointInfo& endpoint_info) override;
  std::string why_not(int) const override { return "this PE has no NIC: " + why_; }

  bool is_used() const override { return others_have_; }

  bool opens_on_demand() const override { return opens_on_demand_; }
  bool agrees_with_first(std::span<const std::byte> endpoint_info) override;

  void make_view(ChannelTables&) override {}

 private:
  const std::string why_;
  const bool opens_on_demand_;
  bool others_have_ = false;
};

}  // namespace chime::host::mlx5
