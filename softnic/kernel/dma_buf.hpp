// Memory of another device, by a descriptor. A file of memory (memfd) stands in for a dma-buf: both
// ends are programs here. Its position is the first byte of the exported range.
#pragma once

#include <cstdint>

#include "mappings.hpp"
#include "softnic/engine/gpu_memory.hpp"

namespace softnic {

struct DmaBufMemory {
  std::uint64_t start = 0;  // where it is mapped in this process
  GpuHold hold;             // while it is mapped
};

// Maps `bytes` from `offset` of the export on. Returns 0 or the kernel's answer: EBADF: no such
// descriptor; EINVAL: it is no memory or shorter.
int map_dma_buf(int fd, std::uint64_t offset, std::uint64_t bytes, Use use, DmaBufMemory& memory);

}  // namespace softnic
