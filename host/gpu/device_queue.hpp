// Work that the library gives the device while kernels of the program run, and that nobody waits
// for: it is looked at. A queue's work is done in its order, beside all streams of the program and
// all other queues. By one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/gpu/library_kernel.hpp"

namespace chime::host {

class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;  // work in flight is over then

  // Between any two addresses that the device reaches; memory of the host is pinned.
  virtual void copy(void* dst, const void* src, std::size_t bytes) = 0;
  // A word of 4 or 8 bytes, by one store: a reader that sees it sees all that came before, too.
  virtual void set(void* word, std::uint64_t value, unsigned bytes) = 0;
  // The arguments are copied.
  virtual void launch(LibraryKernel kernel, void** arguments) = 0;
  // Later work of this queue begins after all work that `other` has now. REQUIRES: of the same Gpu.
  virtual void follow(DeviceQueue& other) = 0;

  // How many pieces of work have come.
  virtual std::uint64_t begun() const = 0;
  // How many of them are over, from the first on. Throws Error where the device has failed: then
  // nothing that it has is over, ever.
  virtual std::uint64_t ended() = 0;
};

}  // namespace chime::host
