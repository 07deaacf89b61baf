// The memory that a context's channels need beside the PE's tables (../../channels): the NIC reads
// and writes it. And its size.
#pragma once

#include <cstddef>

#include "chime/abi/nic_queue.h"
#include "host/gpu/pieces.hpp"
#include "host/options/nic.hpp"
#include "host/transport/mlx5/queues/pe_queues.hpp"

namespace chime::host::mlx5 {

// In the scratch memory of an owner's queues, of which it has `slots` to each place.
struct ScratchPieces {
  Piece<abi::NicFetchSlot> fetch;  // depth + 1 of each queue
  Piece<std::byte> staging;
};
ScratchPieces take_scratch(Pieces& pieces, std::size_t places, ContextOwner owner,
                           const NicOptions& options);

unsigned slots_of(ContextOwner owner, const NicOptions& options);
// The first of the connections' slots that belongs to `owner`: kernels' come first.
unsigned first_slot_of(ContextOwner owner, const NicOptions& options);

ScratchBytes scratch_bytes(unsigned places, const NicOptions& options);

}  // namespace chime::host::mlx5
