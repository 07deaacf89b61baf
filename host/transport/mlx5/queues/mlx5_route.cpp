#include "host/transport/mlx5/queues/mlx5_route.hpp"

#include <algorithm>
#include <cstring>

namespace chime::host::mlx5 {
namespace {

constexpr std::uint8_t kHopLimit = 255;

// Two InfiniBand ports of different subnets need a global route.
bool needs_global_route(const PortAddress& a, const PortAddress& b) {
  constexpr std::size_t kPrefixBytes = 8;
  return a.ethernet || b.lid == 0 ||
         !std::equal(a.gid.begin(), a.gid.begin() + kPrefixBytes, b.gid.begin());
}

}  // namespace

ibv_ah_attr address_of(const Device& device, const Route& route) {
  ibv_ah_attr address{};
  address.port_num = device.port();
  address.sl = static_cast<std::uint8_t>(device.options().service_level);
  address.dlid = route.remote.lid;
  if (!needs_global_route(device.address(), route.remote)) return address;
  address.is_global = 1;
  std::memcpy(address.grh.dgid.raw, route.remote.gid.data(), route.remote.gid.size());
  address.grh.sgid_index = static_cast<std::uint8_t>(device.gid_index());
  address.grh.hop_limit = kHopLimit;
  address.grh.traffic_class = static_cast<std::uint8_t>(device.options().traffic_class);
  return address;
}

unsigned common_mtu(const Device& device, const Route& route) {
  return std::min(device.address().mtu, route.remote.mtu);
}

}  // namespace chime::host::mlx5
