// Stands in for libfabric behind the proxy: it reaches every PE, and has only the functions that a
// transport must have.
#pragma once

#include <string>

#include "host/transport/transport.hpp"

namespace chime::perf {

class StandInFabric : public host::Transport, protected host::HostDriven {
 public:
  host::Capabilities capabilities() const final {
    return {.path = Path::kProxy, .reach = host::Reach::kJob, .maps = false, .posts = true};
  }
  std::string describe() const final { return "a fabric's stand-in"; }
  host::OwnEndpointInfo own_endpoint_info() const final { return {}; }
  host::Acceptance accept(int, const host::PeerEndpointInfo&) final {
    return {.is_accepted = true};
  }
  std::string why_not(int) const final { return "it is"; }
  void make_view(host::ChannelTables&) final {}
  host::HostDriven* host_driven() final { return this; }

 private:
  void serve(host::WordOwner&) final {}
};

}  // namespace chime::perf
