// What a context's part of the proxy consists of in memory, and how much of it there is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/nic_memory.h"
#include "chime/abi/proxy_fifo.h"
#include "chime/abi/proxy_request.h"
#include "host/gpu/pieces.hpp"
#include "host/transport/transport.hpp"

namespace chime::proxy {

using host::Piece;
using host::Pieces;

inline constexpr unsigned kChannels = 64;  // of a context: a word of touched bits
inline constexpr std::uint32_t kStagingSlotBytes = 64 * 1024;

struct Size {
  std::size_t n_pes;
  unsigned depth;  // of each FIFO

  std::size_t lost_words() const { return (n_pes + 63) / 64; }
};

// A context's FIFOs, and its slots for memory that is in no table. A kernel may have every block at
// a put from its stack; the host operates from few threads, by one FIFO.
struct Share {
  host::ContextOwner owner;
  unsigned fifos;
  std::uint32_t staging_slots;
};

inline Share share_of(host::ContextOwner owner, unsigned kernel_fifos) {
  return owner == host::ContextOwner::kKernels ? Share{owner, kernel_fifos, 64}
                                               : Share{owner, 1, 4};
}

// What a context's threads alone use.
struct StatePieces {
  Piece<abi::Channel> channels;
  Piece<std::uint32_t> route;
  Piece<std::uint64_t> touched;
  Piece<abi::Watch> watch;
  Piece<std::uint64_t> busy;          // of each result
  Piece<std::uint64_t> staging_busy;  // of each slot, and how often one was taken
};

inline StatePieces take_state(Pieces& pieces, const Size& size, const Share& share) {
  return {pieces.take<abi::Channel>(kChannels),
          pieces.take<std::uint32_t>(size.n_pes),
          pieces.take<std::uint64_t>(1),
          pieces.take<abi::Watch>(1),
          pieces.take<std::uint64_t>(std::size_t{share.fifos} * size.depth),
          pieces.take<std::uint64_t>(share.staging_slots + 1)};
}

// What the proxy reads and writes, too.
struct SharedPieces {
  Piece<abi::ProxySlot> slots;
  Piece<abi::ProxyResult> results;
  Piece<abi::ProxyTold> told;  // one of each FIFO
  Piece<abi::ChannelFault> faults;
};

// What stands in for unknown memory: taken from the system where it is touched.
inline Piece<std::byte> take_staging(Pieces& pieces, const Share& share) {
  return pieces.take<std::byte>(std::size_t{share.staging_slots} * kStagingSlotBytes);
}

// All else that lies in the host's memory.
struct HostPieces {
  Piece<std::uint64_t> lost;
  Piece<abi::NicBuffers> buffers;
  Piece<abi::NicBuffer> tables[2];
  Piece<abi::ChannelFault> faults;  // one of each FIFO, of kernels first
  SharedPieces of_kernels, of_host;
  StatePieces host_state;

  HostPieces(Pieces& pieces, const Size& size, const Share& kernels, const Share& host)
      : lost(pieces.take<std::uint64_t>(size.lost_words())),
        buffers(pieces.take<abi::NicBuffers>(1)),
        tables{pieces.take<abi::NicBuffer>(abi::kNicMostBuffers),
               pieces.take<abi::NicBuffer>(abi::kNicMostBuffers)},
        faults(pieces.take<abi::ChannelFault>(kernels.fifos + host.fifos)),
        of_kernels(take_shared(pieces, size, kernels, 0)),
        of_host(take_shared(pieces, size, host, kernels.fifos)),
        host_state(take_state(pieces, size, host)) {}

 private:
  SharedPieces take_shared(Pieces& pieces, const Size& size, const Share& share,
                           unsigned first_fault) const {
    const std::size_t slots = std::size_t{share.fifos} * size.depth;
    return {pieces.take<abi::ProxySlot>(slots),
            pieces.take<abi::ProxyResult>(slots),
            pieces.take<abi::ProxyTold>(share.fifos),
            {faults.here ? faults.here + first_fault : nullptr,
             faults.there ? faults.there + first_fault : nullptr}};
  }
};

}  // namespace chime::proxy
