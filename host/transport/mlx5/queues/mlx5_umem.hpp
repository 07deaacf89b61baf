// Queue memory as firmware commands name it (DevX).
#pragma once

#include "host/transport/mlx5/nic/mlx5_device.hpp"
#include "host/transport/mlx5/queues/mlx5_slab.hpp"

namespace chime::host::mlx5 {

// The whole slab, from its start on: by dma-buf if it has one, else by address. Throws Error with
// what the system says.
DevxUmem make_umem(const Device& device, const Slab& slab);

}  // namespace chime::host::mlx5
