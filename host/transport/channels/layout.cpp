#include "host/transport/channels/layout.hpp"

namespace chime::host {

StatePieces take_state(Pieces& pieces, const ChannelCounts& counts, ContextOwner owner) {
  const std::size_t channels = counts.channels(owner);
  return {pieces.take<abi::Channel>(channels),           pieces.take<std::uint32_t>(counts.pes),
          pieces.take<std::uint64_t>(channels / 64),     pieces.take<abi::Watch>(1),
          pieces.take<std::uint64_t>(kStagingSlots + 1), pieces.take<std::uint32_t>(counts.pes),
          pieces.take<std::uint32_t>(counts.places),     pieces.take<abi::Openings>(1)};
}

SharedPieces take_shared(Pieces& pieces, const ChannelCounts& counts) {
  return {pieces.take<abi::ChannelFault>(counts.places * counts.kernel_slots),
          pieces.take<abi::ChannelFault>(counts.places * counts.host_slots),
          {pieces.take<std::uint64_t>(1), pieces.take<std::uint64_t>(counts.wanted_words())},
          {pieces.take<std::uint64_t>(1), pieces.take<std::uint64_t>(counts.wanted_words())},
          pieces.take<std::uint32_t>(counts.pes),
          pieces.take<abi::OpenedPeer>(counts.places)};
}

}  // namespace chime::host
