// Physical memory of a device: a memfd. A process with a descriptor of it has the same memory.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>

#include "softgpu/driver/registry.hpp"

namespace softgpu::driver {

class Device;

// The unit of its sizes and mappings.
inline constexpr std::size_t kGranule = std::size_t{2} << 20;
inline bool is_whole(std::size_t bytes) { return bytes != 0 && bytes % kGranule == 0; }

class Physical {
 public:
  // Fails with out-of-memory.
  static std::shared_ptr<Physical> create(Device& device, std::size_t bytes, bool is_exportable);
  // Memory of this or another process, by its descriptor, which the caller keeps. Fails if it is
  // not device memory.
  static std::shared_ptr<Physical> import(int fd);
  Physical(const Physical&) = delete;
  ~Physical();

  std::size_t bytes() const { return bytes_; }
  int ordinal() const { return ordinal_; }
  int fd() const { return fd_; }
  bool is_exportable() const { return is_exportable_; }

 private:
  Physical(Device* taken_from, int ordinal, std::size_t bytes, int fd, bool is_exportable)
      : taken_from_(taken_from),
        ordinal_(ordinal),
        bytes_(bytes),
        fd_(fd),
        is_exportable_(is_exportable) {}

  Device* const taken_from_;  // null: imported, and its maker counts it
  const int ordinal_;
  const std::size_t bytes_;
  const int fd_;
  const bool is_exportable_;
};

Registry<Physical, CUmemGenericAllocationHandle>& physical_memory();

}  // namespace softgpu::driver
