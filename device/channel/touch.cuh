// Which channels of a context have been posted to: a bit for each, set by its first poster.
#ifndef CHIME_DEVICE_CHANNEL_TOUCH_CUH_
#define CHIME_DEVICE_CHANNEL_TOUCH_CUH_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/complete.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::channel {

CHIME_DEVICE std::uint64_t slots_mask(const abi::Channels& all) {
  return ~std::uint64_t{0} >> (64 - all.slots);
}

namespace detail {

// Called by the first posters of a channel. The bit is set before the look at the peer's other
// channels: a fence either sees the bit and drains them, or its puts came before what is drained
// here. Pairs with the fence in channel::fence. A thread that sees the channel in use also sees the
// bit.
template <Path kPath>
CHIME_DEVICE void first_touch(const Context& ctx, Channel& channel) {
  const abi::Channels& all = ctx.channels;
  std::uint64_t* const word = all.pool.touched + channel.index / 64;
  const unsigned slot = channel.index % all.slots, shift = channel.index % 64 - slot;
  exec::red_or<Order::kRelease, Scope::kDevice>(word, std::uint64_t{1} << (shift + slot));
  exec::fence<Order::kSeqCst, Scope::kDevice>();
  const std::uint64_t of_peer = exec::ld<Order::kRelaxed, Scope::kDevice>(word) >> shift;
  std::uint64_t others = of_peer & slots_mask(all) & ~(std::uint64_t{1} << slot);
  Channel* const first = &channel - slot;
  for (; others != 0; others &= others - 1) {
    drain<kPath>(ctx, first[exec::lowest_bit(others)]);  // its failure would not be this channel's
  }
  exec::red_and<Order::kRelease, Scope::kDevice>(&channel.progress.done, ~abi::kFresh);
}

// For a channel that is fresh or out of use. False if it is out of use.
template <Path kPath>
CHIME_DEVICE_OUT_OF_LINE bool may_be_used(const Context& ctx, Channel& channel) {
  if (is_stopped(channel)) return false;
  first_touch<kPath>(ctx, channel);
  return true;
}

CHIME_DEVICE bool is_rare(std::uint64_t done) {
  return (done & (abi::kStopped | abi::kFresh)) != 0;
}

}  // namespace detail
}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_TOUCH_CUH_
