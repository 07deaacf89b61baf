// Memory of a GPU that other processes can map, by the driver's virtual memory management: physical
// memory with an exportable handle, mapped at an address of its own.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>

#include "host/gpu/gpu.hpp"

namespace chime::host::cuda {

// The GPU that memory is made on, or mapped for.
struct Place {
  CUcontext context;
  CUdevice device;
};

// New memory of `place`'s GPU that it can read and write; not cleared. It travels as a file
// descriptor where the GPU has them, else as a fabric handle. A NIC can register it if GPU and
// driver can do that at all.
std::unique_ptr<DeviceMemory> create_exportable(const Place& place, std::size_t bytes);

// The handle of its physical memory, which `memory` keeps. REQUIRES: create_exportable made it.
CUmemGenericAllocationHandle physical_of(const DeviceMemory& memory);

// As create_exportable, for this process alone.
std::unique_ptr<DeviceMemory> create_private(const Place& place, std::size_t bytes);

// A peer's memory of the same size, mapped for `place`'s GPU. `fd` stays the caller's.
std::unique_ptr<DeviceMemory> import_fd(const Place& place, int fd, std::size_t bytes);
std::unique_ptr<DeviceMemory> import_fabric(const Place& place, const std::byte* handle,
                                            std::size_t bytes);

// Lets `place`'s GPU read and write what is mapped at `address` already, by another PE of this
// process.
void grant_access(const Place& place, std::byte* address, std::size_t bytes);

// Memory of the host that kernels of `place`'s GPU, this process and processes that map its
// descriptor all see under coherent reads and writes; zero.
std::unique_ptr<DeviceMemory> create_host_visible(const Place& place, std::size_t bytes);

// Registers of another device, mapped by this process at `pages`, for kernels of `place`'s GPU.
std::unique_ptr<IoMapping> map_io_memory(const Place& place, std::byte* pages, std::size_t bytes);

// A dma-buf of the pages that the device's memory lies in.
DmaBuf export_dma_buf(const Place& place, const std::byte* memory, std::size_t bytes);

}  // namespace chime::host::cuda
