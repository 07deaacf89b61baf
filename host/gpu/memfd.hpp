// Memory of the operating system that other processes can map: an anonymous file (memfd). The CPU
// device's heap, and the pages that host and kernels share. Nothing of it is left when the last
// process ends.
#pragma once

#include <cstddef>
#include <memory>

#include "host/gpu/gpu.hpp"

namespace chime::host {

inline constexpr std::size_t kPageAlignment = 4096;

// New memory, zero, taken from the system only when touched, at a multiple of `alignment`, whole
// pages. `name` shows in /proc/<pid>/maps.
std::unique_ptr<DeviceMemory> create_memfd(const char* name, std::size_t bytes,
                                           std::size_t alignment = kPageAlignment);

// Another process's memfd. `fd` stays the caller's.
std::unique_ptr<DeviceMemory> map_memfd(int fd, std::size_t bytes);

}  // namespace chime::host
