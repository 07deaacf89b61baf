// Memory of the operating system that other processes can map: an anonymous file (memfd). The CPU
// device's heap, and the pages that host and kernels share. Nothing of it is left when the last
// process ends.
#pragma once

#include <cstddef>
#include <memory>

#include "host/gpu/gpu.hpp"

namespace chime::host {

// Whose memory it stands for, where the CPU device stands for a GPU.
enum class MemoryOf { kHost, kDevice };

// New memory, zero, taken from the system only when touched, at the start of a page and at a
// multiple of `alignment`, a power of two. `name` shows in /proc/<pid>/maps.
std::unique_ptr<DeviceMemory> create_memfd(const char* name, MemoryOf whose, std::size_t bytes,
                                           std::size_t alignment = 1);

// Another process's memfd. `fd` stays the caller's.
std::unique_ptr<DeviceMemory> map_memfd(int fd, MemoryOf whose, std::size_t bytes);

}  // namespace chime::host
