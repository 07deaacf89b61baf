// Memory of a GPU, reached through the CUDA driver that the program itself has loaded. A program
// without a driver has no such memory, and then the softnic touches nothing of CUDA.
//
// The driver's calls are declared here by their documented ABI: no CUDA header is needed, and no
// CUDA library is linked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace softnic {

// Checks whether the program has loaded a driver by now. This takes the loader's lock, so the
// caller must hold no lock of the softnic: a program's constructors, which run under the loader's
// lock, may open the device.
void find_gpu_driver();

// Whether `address` is memory that only a GPU can reach. Managed and host memory is not: the NIC's
// thread can copy it itself.
bool is_gpu_memory(std::uint64_t address);

// While it exists, the NIC's accesses to [start, start + bytes) go through the driver (dma.cpp).
// Null if that is not inside one allocation of a GPU. The device's lock must be held, here and
// where the last copy is destroyed.
using GpuHold = std::shared_ptr<const void>;
GpuHold hold_gpu_memory(std::uint64_t start, std::uint64_t bytes);

// The held GPU that `at` belongs to, or null. Cheap if nothing is held.
class GpuContext;
GpuContext* gpu_of(const void* at);

void gpu_read(GpuContext& gpu, void* to, const std::byte* from, std::size_t bytes);
// Everything before the last word is written before it: a thread that polls the last word sees all.
void gpu_write(GpuContext& gpu, std::byte* to, const void* from, std::size_t bytes);

}  // namespace softnic
