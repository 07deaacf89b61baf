// fence and quiet over the channels of a context that have been posted to.
#ifndef CHIME_DEVICE_CHANNEL_SYNC_CUH_
#define CHIME_DEVICE_CHANNEL_SYNC_CUH_

#include <cstdint>
#include <type_traits>

#include "chime/abi/channel.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/complete.cuh"
#include "chime/device/channel/error.cuh"
#include "chime/device/channel/path.cuh"
#include "chime/device/channel/touch.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"
#include "chime/device/group.cuh"

namespace chime::channel {
namespace detail {

// Out of line, so that the successful case keeps no more than the one word.
CHIME_DEVICE_OUT_OF_LINE Channel* first_failed(Channel* before, Channel& channel) {
  return before != nullptr ? before : &channel;
}

// Drains the channels whose bits are set, from `first` on: all of them, also after one has failed.
// `failed` becomes the first that fails, if it was null before.
template <Extent kExtent>
CHIME_DEVICE void drain_all(const Context& ctx, Channel* first, std::uint64_t bits,
                            Channel*& failed) {
  for (; bits != 0; bits &= bits - 1) {
    Channel& channel = first[exec::lowest_bit(bits)];
    if (!drain<kAny, kExtent>(ctx, channel)) failed = first_failed(failed, channel);
  }
}

// Whether the channels to a peer, or to all peers of a path, keep the order of requests and are the
// only path there. `first`: the first channel that was posted to.
CHIME_DEVICE bool order_themselves(const Context& ctx, const Channel& first,
                                   std::uint64_t bits_of_peer) {
  return exec::count_bits(bits_of_peer) < 2 && keeps_order(first) && !has_other_path(ctx, first);
}

// In a word of touched bits: those of channels that a fence has to drain.
CHIME_DEVICE std::uint64_t unordered_bits(const Context& ctx, const Channel* first,
                                          std::uint64_t bits) {
  const unsigned slots = ctx.channels.slots;
  std::uint64_t unordered = 0;
  for (std::uint64_t rest = bits; rest != 0;) {
    const unsigned at = exec::lowest_bit(rest), shift = at & ~(slots - 1);
    const std::uint64_t of_peer = bits & (slots_mask(ctx.channels) << shift);
    if (!order_themselves(ctx, first[at], of_peer)) unordered |= of_peer;
    rest &= ~of_peer;
  }
  return unordered;
}

// A context's words of touched bits: every `step`-th from `first` on.
struct Words {
  std::uint32_t first = 0, step = 1;
};

// The first channel that failed, or null. Returned only when all other peers have their data.
template <Extent kExtent = Extent::kOperations, class Choose>
CHIME_DEVICE Channel* drain_touched(const Context& ctx, const abi::Channels& all, Words words,
                                    Choose choose) {
  Channel* failed = nullptr;
  const std::uint32_t end = (all.first + all.count) / 64;
  for (std::uint32_t i = all.first / 64 + words.first; i < end; i += words.step) {
    Channel* const first = all.pool.channels + std::uint64_t{i} * 64;
    // Acquire: pairs with first_touch, whose thread knew the channel's peer.
    const std::uint64_t bits = exec::ld<Order::kAcquire, Scope::kDevice>(all.pool.touched + i);
    if (bits != 0) drain_all<kExtent>(ctx, first, choose(first, bits), failed);
  }
  return failed;
}

// The first that failed, null if none did.
template <Extent kExtent>
CHIME_DEVICE Channel* drain_each(const Context& ctx, const abi::Channels& all) {
  return drain_touched<kExtent>(ctx, all, {},
                                [](const Channel*, std::uint64_t bits) { return bits; });
}

CHIME_DEVICE_OUT_OF_LINE void quiet_of(const Context& ctx, const abi::Channels& all) {
  Channel* const failed = drain_each<Extent::kOperations>(ctx, all);
  if (failed != nullptr) leave_channel(ctx, *failed);
}

// In a word of 64 bits: those of the channels that member `rank` of `size` drains, every size-th of
// the pool.
CHIME_DEVICE std::uint64_t share_of(std::uint32_t word, unsigned rank, unsigned size) {
  std::uint64_t mine = 0;
  for (unsigned bit = (rank + size - word * 64 % size) % size; bit < 64; bit += size) {
    mine |= std::uint64_t{1} << bit;
  }
  return mine;
}

// Drains a member's share: whole words where each member gets one, else channels of all words.
// False if one of them failed, which is reported.
CHIME_DEVICE_OUT_OF_LINE bool drain_share(const Context& ctx, unsigned rank, unsigned size) {
  const abi::Channels& all = ctx.channels;
  const bool by_words = all.count / 64 >= size;
  Channel* const failed =
      drain_touched(ctx, all, by_words ? Words{rank, size} : Words{},
                    [&](const Channel* first, std::uint64_t bits) {
                      if (by_words) return bits;
                      const auto word = static_cast<std::uint32_t>(first - all.pool.channels) / 64;
                      return bits & share_of(word, rank, size);
                    });
  if (failed != nullptr) tell_of_operation(ctx, *failed, failed->pe);
  return failed == nullptr;
}

// The work of fence, inline. Returns the first channel that failed, or null.
CHIME_DEVICE Channel* drain_unordered(const Context& ctx) {
  // Between the posts before and the look at the bits: pairs with first_touch.
  exec::fence<Order::kSeqCst, Scope::kDevice>();
  return drain_touched(ctx, ctx.channels, {}, [&](const Channel* first, std::uint64_t bits) {
    return unordered_bits(ctx, first, bits);
  });
}

}  // namespace detail

// Requests sent to a peer before the fence arrive there before those sent after it. Free for peers
// with one channel. Others are drained: peers with several channels, and mapped peers, too, because
// stores would overtake the channel.
CHIME_DEVICE_OUT_OF_LINE void fence(const Context& ctx) {
  Channel* const failed = detail::drain_unordered(ctx);
  if (failed != nullptr) leave_channel(ctx, *failed);
}

// Completes the operations that were sent before; on the host also those that kernels have posted.
CHIME_DEVICE void quiet(const Context& ctx) {
  detail::quiet_of(ctx, ctx.channels);
  if (exec::in_kernel() || ctx.channels.kernels == nullptr) return;
  detail::quiet_of(ctx, *ctx.channels.kernels);
}

// The same with announcements; the quiet of an operation that has failed reports it. For the order
// of what the host sends.
CHIME_DEVICE void settle(const Context& ctx) {
  detail::drain_each<Extent::kWhole>(ctx, ctx.channels);
  if (ctx.channels.kernels != nullptr)
    detail::drain_each<Extent::kWhole>(ctx, *ctx.channels.kernels);
}

// quiet() by all members of a group: each waits for some of the channels. Everything that any
// member sent before is complete for all members. If a channel has failed, all members leave.
template <class Group>
CHIME_DEVICE void quiet(const Context& ctx, Group g) {
  if constexpr (std::is_same_v<Group, Thread>) {
    quiet(ctx);
  } else {
    const bool failed = !detail::drain_share(ctx, g.rank(), g.size());
    if (g.any(failed)) leave(ctx);
  }
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_SYNC_CUH_
