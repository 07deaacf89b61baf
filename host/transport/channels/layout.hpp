// The parts of a context's channels in memory, and their sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "host/gpu/pieces.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

// Memory that stands in for local buffers that requests cannot name, of kernels and of the host
// each. A kernel may have every block at a put from its stack, and a program that many host
// threads. The slots are so many that no two peers have the same half of them (abi/pairs.h). Where
// no NIC pins them, memory is taken for those that were used.
inline constexpr std::uint32_t kStagingSlots = 64;
inline constexpr std::uint32_t kStagingSlotBytes = 64 * 1024;
inline constexpr std::size_t kStagingBytes = std::size_t{kStagingSlots} * kStagingSlotBytes;

// There are as many PEs as in the job. A place is `slots` channels of each owner, which lead to one
// peer, or to all peers of a path.
struct ChannelCounts {
  std::size_t pes, places;
  unsigned kernel_slots, host_slots;

  unsigned slots(ContextOwner owner) const {
    return owner == ContextOwner::kKernels ? kernel_slots : host_slots;
  }
  // So many that a word of touched bits tells of one context alone.
  std::size_t channels(ContextOwner owner) const { return (places * slots(owner) + 63) / 64 * 64; }
  std::size_t wanted_words() const { return (pes + 63) / 64; }
};

// The part that a context's threads alone use.
struct StatePieces {
  Piece<abi::Channel> channels;
  Piece<std::uint32_t> route;
  Piece<std::uint64_t> touched;
  Piece<abi::Watch> watch;
  Piece<std::uint64_t> staging_busy;  // of each slot, and how often one was taken
  Piece<std::uint32_t> opened;        // of each PE; these three where paths are opened on demand
  Piece<std::uint32_t> claims;        // of each place
  Piece<abi::Openings> openings;
};
StatePieces take_state(Pieces& pieces, const ChannelCounts& counts, ContextOwner owner);

// The part that the host reads, or writes, while kernels run.
struct SharedPieces {
  Piece<abi::ChannelFault> faults_of_kernels, faults_of_host;  // one of each channel
  struct Asked {
    Piece<std::uint64_t> count, wanted;
  };
  Asked by_kernels, by_host;  // these and the rest where paths are opened on demand
  Piece<std::uint32_t> answers;
  Piece<abi::OpenedPeer> peers;
};
SharedPieces take_shared(Pieces& pieces, const ChannelCounts& counts);

}  // namespace chime::host
