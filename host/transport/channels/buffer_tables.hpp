// The tables where kernels look up registered buffers (abi::NicBuffers), and how the host writes
// there meanwhile. They lie in the device's memory: no look costs a load from the host's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "chime/abi/nic_memory.h"
#include "host/gpu/gpu.hpp"
#include "host/gpu/pieces.hpp"

namespace chime::host {

class BufferTables {
 public:
  virtual ~BufferTables() = default;

  // Fills the table that `generation` will use. REQUIRES: another one is in use.
  virtual void fill(std::uint64_t generation, std::span<const abi::NicBuffer> rows) = 0;
  // Kernels look in the table of `generation`, and find in it what was filled.
  virtual void use(std::uint64_t generation) = 0;
};

struct BufferPieces {
  Piece<abi::NicBuffers> all;
  Piece<abi::NicBuffer> rows[2];
};
BufferPieces take_buffers(Pieces& pieces);

// In memory of `gpu`, which outlives it: Gpu::allocate_device. Both tables are empty.
std::unique_ptr<BufferTables> make_buffer_tables(Gpu& gpu, const BufferPieces& there);

}  // namespace chime::host
