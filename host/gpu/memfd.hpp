// Memory of the operating system that other processes can map: an anonymous file (memfd). The CPU
// device's heap, and the pages that host and kernels share. Nothing of it is left when the last
// process ends.
#pragma once

#include <cstddef>
#include <memory>

#include "host/gpu/gpu.hpp"

namespace chime::host {

// The kind of memory that it stands for, where the CPU device stands for a GPU.
enum class MemoryOf { kHost, kDevice };

// The purpose of memory.
struct MemfdUse {
  const char* name;   // in /proc/<pid>/maps
  const char* words;  // in errors
  MemoryOf whose;
  bool is_heap = false;  // then the user may make it smaller
};
inline constexpr MemfdUse kHeapMemory{"chime-heap", "the symmetric heap", MemoryOf::kDevice, true};
inline constexpr MemfdUse kSharedPages{
    "chime-control", "pages that the host shares with kernels (control page, mailboxes)",
    MemoryOf::kHost};
inline constexpr MemfdUse kKernelTables{"chime-device", "the kernels' tables and queues",
                                        MemoryOf::kDevice};

// New memory, zero, taken from the system only when touched, at the start of a page and at a
// multiple of `alignment`, a power of two.
std::unique_ptr<DeviceMemory> create_memfd(const MemfdUse& use, std::size_t bytes,
                                           std::size_t alignment = 1);

// Another process's memfd: its heap, if it is the device's, else its control page. `fd` stays the
// caller's.
std::unique_ptr<DeviceMemory> map_memfd(int fd, MemoryOf whose, std::size_t bytes);

}  // namespace chime::host
