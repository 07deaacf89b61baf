// Where the program's objects begin and end, as device code looks it up in a job that checks bounds
// (abi::Allocations, device/bounds.cuh), also while it changes.
//
// The table lies in memory of the host that kernels read: the host changes it while kernels run,
// which is impossible in a GPU's memory. Each step of a kernel's binary search costs a read over
// the bus.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "chime/abi/allocations.h"
#include "host/gpu/gpu.hpp"

namespace chime::host {

class KnownAllocations {
 public:
  // Knows of none. Throws Error if there is no memory for a table of `most`.
  KnownAllocations(Gpu& gpu, std::size_t most);

  const abi::Allocations& table() const { return table_of(*memory_); }

  std::size_t most() const { return most_; }

  // From now on these are the allocations, sorted by their begins, most() of them or fewer. Takes
  // time for each. One call at a time.
  void tell(std::span<const abi::Allocation> all);

 private:
  static abi::Allocations& table_of(DeviceMemory& memory) {
    return *reinterpret_cast<abi::Allocations*>(memory.address());
  }

  const std::size_t most_;
  std::unique_ptr<DeviceMemory> memory_;  // the Allocations, and the rows of both tables behind it
};

}  // namespace chime::host
