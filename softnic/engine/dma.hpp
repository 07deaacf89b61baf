// How the NIC reads and writes the program's memory; nothing else in the softnic touches it. Memory
// that is held by gpu_memory.hpp goes through the CUDA driver; the CPU copies all other memory.
//
// A NIC is no thread: TSan must not see its accesses, because their order (doorbells, completions)
// comes from libraries that it does not watch. dma.cpp is compiled without TSan.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softnic {

// Reads program memory into NIC memory.
void dma_read(void* to, const std::byte* from, std::size_t bytes);

// Places payload: in address order by the longest aligned stores, so that no aligned word of up to
// 8 bytes is seen in part (a put of an int arrives whole, as by a PCIe write). The last store has
// release, so that a thread that polls the last bytes of a message, or learns of it by a later
// packet, sees all of it.
void dma_write(std::byte* to, const void* from, std::size_t bytes);

// One aligned word of 4 or 8 bytes, for atomics and doorbell records.
std::uint64_t dma_load(const std::byte* from, unsigned bytes);
void dma_store(std::byte* to, std::uint64_t value, unsigned bytes);

}  // namespace softnic
