#include "host/transport/mlx5/no_nic.hpp"

#include <utility>

#include "host/errors/error.hpp"
#include "host/transport/mlx5/endpoint_info.hpp"

namespace chime::host::mlx5 {

NoNic::NoNic(std::string why, bool opens_on_demand)
    : why_(std::move(why)), opens_on_demand_(opens_on_demand) {}

Capabilities NoNic::capabilities() const {
  return {.path = Path::kNic, .reach = Reach::kJob, .maps = false, .posts = false};
}

bool NoNic::agrees_with_first(std::span<const std::byte> endpoint_info) {
  if (!read_endpoint_info(0, endpoint_info).why_none.empty()) return false;
  throw Error("NIC", CHIMEX_ERR_UNSUPPORTED,
              "PE 0 has a NIC and this PE has none: " + why_ +
                  "; where peers are connected on demand all PEs are alike: set CHIME_NIC=none, or "
                  "CHIME_CONNECT=eager");
}

Acceptance NoNic::accept(int pe, const PeerEndpointInfo& endpoint_info) {
  others_have_ |= read_endpoint_info(pe, endpoint_info.bytes).why_none.empty();
  return {};
}

OwnEndpointInfo NoNic::own_endpoint_info() const {
  EndpointInfo endpoint_info;
  endpoint_info.why_none = why_;
  return {write_endpoint_info(endpoint_info)};
}

}  // namespace chime::host::mlx5
