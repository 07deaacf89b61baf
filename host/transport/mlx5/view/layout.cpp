#include "host/transport/mlx5/view/layout.hpp"

namespace chime::host::mlx5 {
namespace {

// Memory that stands in for local buffers that the NIC does not know. A kernel may have every block
// at a put from its stack; the host operates from few threads.
constexpr std::uint32_t kKernelStagingSlots = 64;
constexpr std::uint32_t kHostStagingSlots = 4;

}  // namespace

Share share_of(ContextOwner owner, const NicOptions& options) {
  const std::uint32_t id = context_id(owner);
  if (owner == ContextOwner::kKernels) return {id, 0, options.slots, kKernelStagingSlots};
  return {id, options.slots, kHostQueuePairs, kHostStagingSlots};
}

std::size_t channels_of(std::size_t queues) { return (queues + 63) / 64 * 64; }

StatePieces take_state(Pieces& pieces, const Size& size, const Share& share) {
  const std::size_t channels = channels_of(size.places * share.slots);
  return {pieces.take<abi::Channel>(channels),
          pieces.take<std::uint32_t>(size.pes),
          pieces.take<std::uint64_t>(channels / 64),
          pieces.take<abi::Watch>(1),
          pieces.take<std::uint64_t>(share.staging_slots + 1),
          pieces.take<std::uint32_t>(size.pes),
          pieces.take<std::uint32_t>(size.places),
          pieces.take<abi::Openings>(1)};
}

ScratchPieces take_scratch(Pieces& pieces, std::size_t places, const Share& share, unsigned depth) {
  return {pieces.take<abi::NicFetchSlot>(places * share.slots * (depth + 1)),
          pieces.take<std::byte>(std::size_t{share.staging_slots} * kStagingSlotBytes)};
}

SharedPieces take_shared(Pieces& pieces, const Size& size, const NicOptions& options) {
  const auto slots = [&](ContextOwner owner) { return share_of(owner, options).slots; };
  return {pieces.take<abi::ChannelFault>(size.places * slots(ContextOwner::kKernels)),
          pieces.take<abi::ChannelFault>(size.places * slots(ContextOwner::kHost)),
          pieces.take<abi::NicBuffers>(1),
          {pieces.take<abi::NicBuffer>(abi::kNicMostBuffers),
           pieces.take<abi::NicBuffer>(abi::kNicMostBuffers)},
          {pieces.take<std::uint64_t>(1), pieces.take<std::uint64_t>(size.wanted_words())},
          {pieces.take<std::uint64_t>(1), pieces.take<std::uint64_t>(size.wanted_words())},
          pieces.take<std::uint32_t>(size.pes),
          pieces.take<abi::OpenedPeer>(size.places)};
}

ScratchBytes scratch_bytes(unsigned places, const NicOptions& options) {
  const auto of = [&](ContextOwner owner) {
    return counted([&](Pieces& pieces) {
      take_scratch(pieces, places, share_of(owner, options), options.queue_depth);
    });
  };
  return {of(ContextOwner::kKernels), of(ContextOwner::kHost)};
}

}  // namespace chime::host::mlx5
