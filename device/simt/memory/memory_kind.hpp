// What kind of memory an address would lie in on a GPU. On the CPU device all of it is the host's,
// and only this tells what a kernel's access would cost there.
#pragma once

#include <cstddef>

#include "chime/device/simt/exec/export.hpp"

namespace chime::simt {

enum class MemoryKind {
  kOther,   // a kernel's own, or nobody has said
  kDevice,  // the GPU's
  kHost,    // the host's, mapped for kernels: each access crosses the bus
  kBar,     // registers of another device
};

// While it lives, `bytes` from `address` on are of one kind, until another says so of the same
// address. To be ended before the memory is given back. Ranges lie apart.
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
