// The transport of a PE that has no fabric where others may have one: it says why, and is refused.
#pragma once

#include <string>

#include "host/transport/transport.hpp"

namespace chime::host::ofi {

class NoFabric final : public Transport {
 public:
  explicit NoFabric(std::string why);

  Capabilities capabilities() const override;
  std::string describe() const override { return "no fabric: " + why_; }

  OwnCard own_card() const override;
  Acceptance accept(int, const PeerCard&) override { return {}; }
  std::string why_not(int) const override { return "this PE has no fabric: " + why_; }

  void make_view(ChannelTables&) override {}

 private:
  const std::string why_;
};

}  // namespace chime::host::ofi
