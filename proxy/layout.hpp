// The parts of a FIFO in memory beside its channel, and their sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/abi/proxy_fifo.h"
#include "chime/abi/proxy_request.h"
#include "host/gpu/pieces.hpp"
#include "host/transport/channels/layout.hpp"

namespace chime::proxy {

using host::Piece;
using host::Pieces;

// The part that posters alone use, of one context's FIFOs: it stands with their counters.
inline Piece<std::uint64_t> take_busy(Pieces& pieces, unsigned fifos, unsigned depth) {
  return pieces.take<std::uint64_t>(std::size_t{fifos} * depth);  // of each answer
}

// The parts that the proxy reads and writes, too.
struct FifoPieces {
  Piece<abi::ProxySlot> slots;
  Piece<abi::ProxyAnswer> answers;
  Piece<abi::ProxyReport> report;  // one of each FIFO
};
// `answers`: of each.
inline FifoPieces take_fifos(Pieces& pieces, unsigned fifos, unsigned depth, unsigned answers) {
  return {pieces.take<abi::ProxySlot>(std::size_t{fifos} * depth),
          pieces.take<abi::ProxyAnswer>(std::size_t{fifos} * answers),
          pieces.take<abi::ProxyReport>(fifos)};
}
inline unsigned answers_of(unsigned depth) {
  return abi::proxy_answers(depth, host::kStagingSlots);
}

// All that lies in the host's memory.
struct HostPieces {
  Piece<std::uint64_t> lost, at_limit;  // a bit for each PE, each
  Piece<abi::ProxySleep> sleep;
  FifoPieces of_kernels, of_host;
  Piece<std::uint64_t> busy_of_host;

  HostPieces(Pieces& pieces, std::size_t n_pes, unsigned kernel_fifos, unsigned host_fifos,
             unsigned depth)
      : lost(pieces.take<std::uint64_t>((n_pes + 63) / 64)),
        at_limit(pieces.take<std::uint64_t>((n_pes + 63) / 64)),
        sleep(pieces.take<abi::ProxySleep>(1)),
        of_kernels(take_fifos(pieces, kernel_fifos, depth, answers_of(depth))),
        of_host(take_fifos(pieces, host_fifos, depth, answers_of(depth))),
        busy_of_host(take_busy(pieces, host_fifos, depth)) {}
};

}  // namespace chime::proxy
