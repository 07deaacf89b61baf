// What a context's part of the NIC consists of in memory, and how much of it there is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/nic_memory.h"
#include "host/gpu/pieces.hpp"
#include "host/transport/mlx5/options.hpp"
#include "host/transport/mlx5/queues/pe_queues.hpp"

namespace chime::host::mlx5 {

inline constexpr std::uint32_t kStagingSlotBytes = 64 * 1024;

// One context's share of the queue pairs to each peer, and its memory.
struct Share {
  std::uint32_t id;
  unsigned first_slot, slots;
  std::uint32_t staging_slots;
};

Share share_of(ContextOwner owner, const NicOptions& options);

// Of PEs there are as many as in the job, of places for peers as queue pairs were made for.
struct Size {
  std::size_t pes, places;

  std::size_t wanted_words() const { return (pes + 63) / 64; }
};

// What a context's threads alone use.
struct StatePieces {
  Piece<abi::Channel> channels;
  Piece<std::uint32_t> route;
  Piece<std::uint64_t> touched;
  Piece<abi::Watch> watch;
  Piece<std::uint64_t> staging_busy;  // of each slot, and how often one was taken
  Piece<std::uint32_t> opened;        // of each PE; these three where ways are opened on demand
  Piece<std::uint32_t> claims;        // of each place
  Piece<abi::Openings> openings;
};
StatePieces take_state(Pieces& pieces, const Size& size, const Share& share);

// What its NIC reads and writes, in the scratch memory of its queues.
struct ScratchPieces {
  Piece<abi::NicFetchSlot> fetch;  // depth + 1 of each queue
  Piece<std::byte> staging;
};
ScratchPieces take_scratch(Pieces& pieces, std::size_t places, const Share& share, unsigned depth);

// What the host reads, or writes, while kernels run.
struct SharedPieces {
  Piece<abi::ChannelFault> faults_of_kernels, faults_of_host;  // one of each queue pair
  Piece<abi::NicBuffers> buffers;
  Piece<abi::NicBuffer> tables[2];
  struct Asked {
    Piece<std::uint64_t> count, wanted;
  };
  Asked by_kernels, by_host;  // what follows where ways are opened on demand
  Piece<std::uint32_t> answers;
  Piece<abi::OpenedPeer> peers;
};
SharedPieces take_shared(Pieces& pieces, const Size& size, const NicOptions& options);

// So many that a word of touched bits tells of one context alone.
std::size_t channels_of(std::size_t queues);

ScratchBytes scratch_bytes(unsigned places, const NicOptions& options);

}  // namespace chime::host::mlx5
