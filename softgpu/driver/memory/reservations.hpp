// Addresses from cuMemAddressReserve, and their mappings.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "softgpu/driver/memory/address_space.hpp"

namespace softgpu::driver {

class MulticastObject;
class Physical;

class Reservations {
 public:
  CUdeviceptr reserve(std::size_t bytes, std::size_t alignment);
  // The whole range of one reserve(), in which nothing is mapped.
  void free(CUdeviceptr address, std::size_t bytes);

  // Maps the first `bytes` of the memory, without access as yet.
  void map(CUdeviceptr address, std::size_t bytes, const std::shared_ptr<Physical>& memory);
  // The same of a multicast object: neither host nor copies ever have access.
  void map(CUdeviceptr address, std::size_t bytes, const std::shared_ptr<MulticastObject>& object);
  // Unmaps whole mappings, without a gap between them.
  void unmap(CUdeviceptr address, std::size_t bytes);
  void set_access(CUdeviceptr address, std::size_t bytes, CUmemAccess_flags access, int device);
  CUmemAccess_flags access(CUdeviceptr address, int device) const;

 private:
  struct Mapping {
    std::size_t bytes;
    std::map<int, CUmemAccess_flags> access;  // by device
    bool is_multicast = false;
  };
  using Mappings = std::map<CUdeviceptr, Mapping>;

  // REQUIRES: mutex_.
  void need_reserved(CUdeviceptr address, std::size_t bytes) const;
  Range need_hole(CUdeviceptr address, std::size_t bytes) const;
  void put_into(const Range& hole, Range mapped);
  // The first of the mappings that make up [address, address + bytes); `doing`: for the message.
  Mappings::iterator need_whole_mappings(CUdeviceptr address, std::size_t bytes, const char* doing);
  void protect(CUdeviceptr address, const Mapping& mapping);

  mutable std::mutex mutex_;
  std::map<CUdeviceptr, std::size_t> reserved_;
  Mappings mappings_;
};

Reservations& reservations();

}  // namespace softgpu::driver
