#include "host/transport/mlx5/view/layout.hpp"

#include "host/transport/channels/layout.hpp"

namespace chime::host::mlx5 {

unsigned slots_of(ContextOwner owner, const NicOptions& options) {
  return owner == ContextOwner::kKernels ? options.slots : kHostQueuePairs;
}

unsigned first_slot_of(ContextOwner owner, const NicOptions& options) {
  return owner == ContextOwner::kKernels ? 0 : options.slots;
}

ScratchPieces take_scratch(Pieces& pieces, std::size_t places, ContextOwner owner,
                           const NicOptions& options) {
  const std::size_t queues = places * slots_of(owner, options);
  return {pieces.take<abi::NicFetchSlot>(queues * (options.queue_depth + 1)),
          pieces.take<std::byte>(kStagingBytes)};
}

ScratchBytes scratch_bytes(unsigned places, const NicOptions& options) {
  const auto of = [&](ContextOwner owner) {
    return counted([&](Pieces& pieces) { take_scratch(pieces, places, owner, options); });
  };
  return {of(ContextOwner::kKernels), of(ContextOwner::kHost)};
}

}  // namespace chime::host::mlx5
