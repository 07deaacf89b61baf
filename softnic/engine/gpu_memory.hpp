// Memory of a GPU, reached through the CUDA driver that the program itself has loaded. A program
// without one has no such memory, and nothing of CUDA is touched.
//
// The driver's calls are declared here by their documented ABI: no CUDA header is needed, and no
// CUDA library is linked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace softnic {

// Looks whether the program has loaded a driver by now. The loader's lock is taken: no lock of the
// softnic may be held, because a program's constructors, which run under it, may open the device.
void find_gpu_driver();

// Whether `address` is memory that only a GPU can reach. Managed and host memory is not: the NIC's
// thread can copy it itself.
bool is_gpu_memory(std::uint64_t address);

// While it exists, the NIC's accesses to [start, start + bytes) go through the driver (dma.cpp).
// Null when that is not inside one allocation of a GPU. The device's lock must be held, here and
// where the last copy goes away.
using GpuHold = std::shared_ptr<const void>;
GpuHold hold_gpu_memory(std::uint64_t start, std::uint64_t bytes);

// The held GPU that `at` belongs to, or null. Cheap where nothing is held.
class GpuContext;
GpuContext* gpu_of(const void* at);

void gpu_read(GpuContext& gpu, void* to, const std::byte* from, std::size_t bytes);
// Everything before the last word is there before it: who polls the last word sees all.
void gpu_write(GpuContext& gpu, std::byte* to, const void* from, std::size_t bytes);

}  // namespace softnic
