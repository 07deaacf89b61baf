// The addresses that the driver knows: device memory, mapped physical memory, pinned memory of the
// host. Kernels, copies and the host all use the same ones.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace softgpu {
class Module;
}

namespace softgpu::driver {

enum class Kind {
  kDevice,      // cuMemAlloc
  kManaged,     // cuMemAllocManaged
  kMapped,      // cuMemMap
  kReserved,    // cuMemAddressReserve, not mapped
  kMulticast,   // cuMemMap of a multicast object, which multimem instructions alone use
  kHost,        // cuMemHostAlloc
  kRegistered,  // cuMemHostRegister
};

struct Range {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  Kind kind = Kind::kDevice;
  CUcontext context = nullptr;  // the context that made it; null: none
  CUdevice device = 0;
  bool can_read = true, can_write = true;
  bool sync_memops = false;
  // The owner of the memory, and the range's offset in its file; fd -1: it has no file.
  std::shared_ptr<void> memory = {};
  int fd = -1;
  std::size_t offset = 0;
  const Module* module = nullptr;  // the module of the variable

  CUdeviceptr end() const { return begin + bytes; }
  bool is_of_host() const { return kind == Kind::kHost || kind == Kind::kRegistered; }
};

enum class Access { kRead, kWrite };

class AddressSpace {
 public:
  void add(Range range);
  std::optional<Range> find(CUdeviceptr address) const;
  // Removes the range that begins there from the address space.
  std::optional<Range> remove(CUdeviceptr begin);
  bool overlaps(CUdeviceptr begin, std::size_t bytes) const;
  // Calls change(Range&) for the range that begins there. False: there is none.
  template <class Change>
  bool change(CUdeviceptr begin, Change change) {
    const std::lock_guard lock(mutex_);
    const auto found = ranges_.find(begin);
    if (found == ranges_.end()) return false;
    change(found->second);
    return true;
  }
  // Removes the ranges made in `context`, or with the module, from the address space.
  void remove_of(CUcontext context);
  void remove_variables_of(const Module& module);

  // Checks that work on a device may touch all of [address, address + bytes): fails if a part of it
  // is not accessible. Null if the driver does not know the address: it is the program's own
  // memory.
  std::optional<Range> check(CUdeviceptr address, std::size_t bytes, Access access) const;

 private:
  using Ranges = std::map<CUdeviceptr, Range>;
  Ranges::const_iterator around(CUdeviceptr address) const;  // REQUIRES: mutex_

  mutable std::mutex mutex_;
  Ranges ranges_;  // without overlap
};

AddressSpace& address_space();

}  // namespace softgpu::driver
