// The kind of memory that an address would have on a GPU. On the CPU device all memory is the
// host's, and only these marks show the cost of a kernel's access on a GPU.
#pragma once

#include <cstddef>

#include "chime/device/simt/exec/export.hpp"

namespace chime::simt {

enum class MemoryKind {
  kOther,   // a kernel's own, or not marked
  kDevice,  // the GPU's
  kHost,    // the host's, mapped for kernels: each access crosses the bus
  kBar,     // registers of another device
};

// While an object of this class lives, `bytes` from `address` on are of one kind, unless a later
// object marks the same address. Destroy it before the memory is freed. Ranges do not overlap.
class CHIME_SIMT_EXPORT MarkedMemory {
 public:
  MarkedMemory(const void* address, std::size_t bytes, MemoryKind kind);
  MarkedMemory(const MarkedMemory&) = delete;
  MarkedMemory& operator=(const MarkedMemory&) = delete;
  ~MarkedMemory();

 private:
  const void* const address_;
};

CHIME_SIMT_EXPORT MemoryKind kind_of_memory(const void* address);

}  // namespace chime::simt
