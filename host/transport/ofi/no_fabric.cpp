#include "host/transport/ofi/no_fabric.hpp"

#include <utility>

#include "host/transport/ofi/endpoint_info.hpp"

namespace chime::host::ofi {

NoFabric::NoFabric(std::string why, bool opens_on_demand)
    : why_(std::move(why)), opens_on_demand_(opens_on_demand) {}

Capabilities NoFabric::capabilities() const {
  return {.path = Path::kProxy, .reach = Reach::kJob, .maps = false, .posts = false};
}

// The job may go by it: this PE reaches nobody.
bool NoFabric::agrees_with_first(std::span<const std::byte> endpoint_info) {
  first_has_ = read_endpoint_info(0, endpoint_info).why_none.empty();
  return false;
}

OwnEndpointInfo NoFabric::own_endpoint_info() const {
  return {write_endpoint_info({.why_none = why_})};
}

}  // namespace chime::host::ofi
