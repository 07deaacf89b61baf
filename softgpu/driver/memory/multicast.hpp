// Multicast objects: an address range at which each of several devices has memory of its own.
// Kernels store to all, or load a value from all, by multimem instructions alone: the range's pages
// allow nothing else.
//
// The processes of an object share a page (a memfd), in which each device's place says where its
// memory is: by process and descriptor, which the others open. So the process that has bound it
// must live when they first use it.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "softgpu/driver/memory/physical.hpp"
#include "softgpu/driver/registry.hpp"

namespace softgpu::driver {

class MulticastObject {
 public:
  static std::shared_ptr<MulticastObject> create(unsigned devices, std::size_t bytes,
                                                 bool is_exportable);
  // Whether the descriptor is one of an object, and that object.
  static bool is_one(int fd);
  static std::shared_ptr<MulticastObject> import(int fd);
  MulticastObject(const MulticastObject&) = delete;
  ~MulticastObject();

  std::size_t bytes() const;
  int fd() const { return fd_; }
  bool is_exportable() const { return is_exportable_; }

  void add(int device);
  // Waits for the devices that are not added, as the driver does; but gives up after a minute.
  void wait_for_devices(const char* call) const;
  // The first `bytes` of a memory of a device that is added.
  void bind(const std::shared_ptr<Physical>& memory, std::size_t bytes);
  void unbind(int device, std::size_t bytes);

  // The host's addresses of all devices' memory at `offset`, of which an instruction accesses so
  // many bytes. As many as devices; 0: some device has none bound there.
  unsigned addresses_at(std::size_t offset, std::size_t bytes, std::span<std::uint64_t> out);

 private:
  struct Page;
  struct Place;
  class View;

  MulticastObject(int fd, bool is_exportable);
  Place* place_of(int device) const;
  const View* view_of(std::size_t index);  // null: nothing is bound there

  const int fd_;
  const bool is_exportable_;
  Page* const page_;
  std::vector<std::shared_ptr<Physical>> bound_;  // here: their descriptors stay open
  std::mutex mutex_;                              // of the views
  std::vector<std::unique_ptr<View>> views_;      // by place
};

inline constexpr unsigned kMostMulticastDevices = 64;

Registry<MulticastObject, CUmemGenericAllocationHandle>& multicast_objects();

// The same for the address of a multimem instruction. 0: it is no multicast address, or not all
// devices have memory bound there.
unsigned multicast_addresses(CUdeviceptr address, std::size_t bytes, std::span<std::uint64_t> out);

}  // namespace softgpu::driver
