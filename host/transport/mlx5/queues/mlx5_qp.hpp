// Queue pairs as verbs objects: the kernel's driver fills the firmware's structures and resolves
// addresses; libmlx5 says where the queues lie, which is in the slab.
#pragma once

#include <memory>

#include "host/transport/mlx5/nic/mlx5_device.hpp"
#include "host/transport/mlx5/queues/doorbells.hpp"
#include "host/transport/mlx5/queues/mlx5_slab.hpp"

namespace chime::host::mlx5 {

// Slab bytes that a queue pair of `blocks` takes at most.
std::size_t verbs_bytes(unsigned blocks);

std::unique_ptr<Backend> make_verbs_backend(const Device& device, Slab& slab, Doorbells& doorbells);

}  // namespace chime::host::mlx5
