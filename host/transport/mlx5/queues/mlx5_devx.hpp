// Queue pairs made by firmware commands (DevX): a completion queue whose one entry every completion
// overwrites, queues in memory that was handed to the device as it is (a umem).
#pragma once

#include <memory>

#include "host/transport/mlx5/nic/mlx5_device.hpp"
#include "host/transport/mlx5/queues/doorbells.hpp"
#include "host/transport/mlx5/queues/mlx5_slab.hpp"

namespace chime::host::mlx5 {

// Slab bytes that a queue pair of `blocks` takes at most.
std::size_t devx_bytes(unsigned blocks);

std::unique_ptr<Backend> make_devx_backend(const Device& device, Slab& slab, Doorbells& doorbells);

}  // namespace chime::host::mlx5
