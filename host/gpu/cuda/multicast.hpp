// Multicast objects: memory of several GPUs at one address, where the driver and the switch between
// the GPUs have that. Not yet run on hardware.
#pragma once

#include <memory>
#include <string>

#include "host/gpu/cuda/memory.hpp"
#include "host/gpu/gpu.hpp"

namespace chime::host::cuda {

// As in Gpu (gpu.hpp), in the current context.
std::string why_no_multicast(const Place& place, const DeviceMemory& heap, unsigned gpus);
std::unique_ptr<Multicast> create_multicast(const Place& place, std::size_t bytes, unsigned gpus);
std::unique_ptr<Multicast> join_multicast(const Place& place, int fd, std::size_t bytes);

}  // namespace chime::host::cuda
