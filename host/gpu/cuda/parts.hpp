// The parts of which memory by the driver's virtual memory management is made: physical memory,
// addresses, the mapping of one at the other, and its name for other processes. Each frees what it
// has.
#pragma once

#include <cuda.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "host/gpu/cuda/driver.hpp"
#include "host/gpu/gpu.hpp"

namespace chime::host::cuda {

// Physical memory comes in multiples of this on every GPU that Chime supports (checked): both sides
// of an exchange round up alike without asking each other.
inline constexpr std::size_t kGranule = kHeapAlignment;

inline std::size_t whole_granules(std::size_t bytes) {
  return (bytes + kGranule - 1) / kGranule * kGranule;
}

inline std::string mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// Physical memory: made here, or a peer's.
class Physical {
 public:
  // `use`: what it is for, and what makes it smaller.
  Physical(const CUmemAllocationProp& prop, std::size_t bytes, const char* use) {
    driver().check(driver().cuMemCreate(&handle_, bytes, &prop, 0), "cuMemCreate",
                   "the GPU has no " + mebibytes(bytes) + " left for " + use);
  }
  Physical(void* shareable, CUmemAllocationHandleType type) {
    driver().check(driver().cuMemImportFromShareableHandle(&handle_, shareable, type),
                   "cuMemImportFromShareableHandle",
                   "a peer's heap cannot be mapped here; CHIME_P2P=off does without");
  }
  // Memory, or a multicast object, that the caller has got already.
  explicit Physical(CUmemGenericAllocationHandle handle) : handle_(handle) {}
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
  ~Physical() {
    const UncapturedCalls uncaptured;
    driver().cuMemRelease(handle_);
  }

  CUmemGenericAllocationHandle handle() const { return handle_; }

 private:
  CUmemGenericAllocationHandle handle_ = 0;
};

// Addresses that nothing else in this process uses.
class Addresses {
 public:
  explicit Addresses(std::size_t bytes) : bytes_(bytes) {
    driver().check(driver().cuMemAddressReserve(&first_, bytes, kGranule, 0, 0),
                   "cuMemAddressReserve", "no room for " + mebibytes(bytes) + " of addresses");
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() {
    const UncapturedCalls uncaptured;
    driver().cuMemAddressFree(first_, bytes_);
  }

  CUdeviceptr first() const { return first_; }
  std::size_t bytes() const { return bytes_; }

 private:
  CUdeviceptr first_ = 0;
  std::size_t bytes_;
};

// The whole of a Physical, readable and writable at the Addresses.
class Mapping {
 public:
  Mapping(const Addresses& at, const Physical& physical) : at_(at) {
    driver().check(driver().cuMemMap(at.first(), at.bytes(), 0, physical.handle(), 0), "cuMemMap");
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    const UncapturedCalls uncaptured;
    driver().cuMemUnmap(at_.first(), at_.bytes());
  }

 private:
  const Addresses& at_;
};

// The name of memory that other processes import it by. Empty for imported memory.
class ShareHandle {
 public:
  ShareHandle() = default;
  ShareHandle(const Physical& physical, CUmemAllocationHandleType type) {
    const bool is_fd = type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    void* const out = is_fd ? static_cast<void*>(&fd_) : static_cast<void*>(&fabric_);
    driver().check(driver().cuMemExportToShareableHandle(out, physical.handle(), type, 0),
                   "cuMemExportToShareableHandle",
                   is_fd ? "see ulimit -n" : "fabric handles need a running nvidia-imex service");
    is_fabric_ = !is_fd;
  }
  ShareHandle(ShareHandle&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), is_fabric_(other.is_fabric_), fabric_(other.fabric_) {}
  ~ShareHandle() {
    if (fd_ >= 0) ::close(fd_);
  }

  int fd() const { return fd_; }
  const std::byte* fabric() const {
    return is_fabric_ ? reinterpret_cast<const std::byte*>(&fabric_) : nullptr;
  }

 private:
  int fd_ = -1;
  bool is_fabric_ = false;
  CUmemFabricHandle fabric_{};
};

}  // namespace chime::host::cuda
