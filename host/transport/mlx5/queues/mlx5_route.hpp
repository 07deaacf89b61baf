// A route in verbs' words.
#pragma once

#include "host/transport/mlx5/nic/mlx5_device.hpp"

namespace chime::host::mlx5 {

ibv_ah_attr address_of(const Device& device, const Route& route);

// The largest MTU that both ports can carry.
unsigned common_mtu(const Device& device, const Route& route);

}  // namespace chime::host::mlx5
