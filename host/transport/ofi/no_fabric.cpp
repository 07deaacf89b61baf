#include "host/transport/ofi/no_fabric.hpp"

#include <utility>

#include "host/transport/ofi/card.hpp"

namespace chime::host::ofi {

NoFabric::NoFabric(std::string why) : why_(std::move(why)) {}

Capabilities NoFabric::capabilities() const {
  return {.path = Path::kProxy, .reach = Reach::kJob, .maps = false, .posts = false};
}

OwnCard NoFabric::own_card() const { return {write_card({.why_none = why_})}; }

}  // namespace chime::host::ofi
