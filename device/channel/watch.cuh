// A thread watches its PE's channels while it waits for other PEs: there may be no other thread
// that finds failed requests.
#ifndef CHIME_DEVICE_CHANNEL_WATCH_CUH_
#define CHIME_DEVICE_CHANNEL_WATCH_CUH_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/error.cuh"
#include "chime/device/channel/opening.cuh"
#include "chime/device/channel/path.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/route.cuh"
#include "chime/device/wait.cuh"

namespace chime {
namespace channel {

// Whether a channel has failed, which was reported. Acquire: pairs with the release in write_fault.
CHIME_DEVICE bool some_lost(const abi::ChannelPool& pool) {
  return exec::ld<Order::kAcquire, Scope::kSystem>(&pool.watch->lost) != 0;
}

namespace detail {

inline constexpr std::int64_t kLookNs = 100'000;

CHIME_DEVICE std::int64_t ns_between(std::uint64_t before, std::uint64_t now) {
  return static_cast<std::int64_t>(now - before);
}

// The peer of a lost channel, if the wait has lasted CHIME_TIMEOUT since the loss; else -1.
CHIME_DEVICE int lost_peer(const Context& ctx, const abi::ChannelPool& pool, std::uint64_t start,
                           std::uint64_t now) {
  // Acquire: pairs with the release in write_fault.
  const std::uint64_t lost = exec::ld<Order::kAcquire, Scope::kSystem>(&pool.watch->lost);
  const std::uint64_t patience = ctx.pe.wait_timeout_ns;
  if (lost == 0 || patience == 0) return -1;
  const abi::ChannelFault& fault = *pool.channels[lost - 1].fault;
  const std::int64_t waited = ns_between(start, now), since = ns_between(fault.time_ns, now);
  return (waited < since ? waited : since) >= static_cast<std::int64_t>(patience) ? fault.pe : -1;
}

// Only one of all waiting threads looks in each period of kLookNs.
CHIME_DEVICE bool is_turn_to_look(const abi::ChannelPool& pool, std::uint64_t now) {
  std::uint64_t* const looked = &pool.watch->looked_ns;
  const std::uint64_t before = exec::ld<Order::kRelaxed, Scope::kSystem>(looked);
  return ns_between(before, now) >= kLookNs &&
         exec::atomic_cas<Order::kRelaxed, Scope::kSystem>(looked, before, now) == before;
}

// A channel in use, in turn. Null if the next word of touched bits shows none.
CHIME_DEVICE Channel* next_touched(const abi::ChannelPool& pool) {
  std::uint64_t* const next = &pool.watch->next;
  std::uint64_t at = exec::ld<Order::kRelaxed, Scope::kSystem>(next);
  if (at >= pool.count) at = 0;
  // Acquire: pairs with first_touch, whose thread knew the channel's peer.
  const std::uint64_t bits =
      exec::ld<Order::kAcquire, Scope::kDevice>(pool.touched + at / 64) >> at % 64;
  at += bits != 0 ? exec::lowest_bit(bits) : 64 - at % 64;
  exec::st<Order::kRelaxed, Scope::kSystem>(next, at + (bits != 0 ? 1 : 0));
  return bits != 0 ? pool.channels + at : nullptr;
}

CHIME_DEVICE int watch_pool(const Context& ctx, const abi::ChannelPool& pool, std::uint64_t start) {
  const std::uint64_t now = exec::clock_ns();
  const int pe = lost_peer(ctx, pool, start, now);
  if (pe >= 0 || !is_turn_to_look(pool, now)) return pe;
  Channel* const channel = next_touched(pool);
  if (channel == nullptr) return -1;
  poll(*channel);
  if (has_failed(*channel)) tell(ctx, *channel, ctx.pe.async_error);
  return -1;
}

}  // namespace detail

// Called now and then in a wait that began at `start`: polls a channel that this PE has posted to,
// for failed requests. Returns the PE for which the wait has no hope left, or -1. Reports a failure
// in the PE's record: another thread may have posted the request, and this wait may still end by
// its event.
CHIME_DEVICE_OUT_OF_LINE int watch(const Context& ctx, std::uint64_t start) {
  const int pe = detail::watch_pool(ctx, ctx.channels.pool, start);
  // The host also looks at what kernels have posted: the kernels may have ended.
  if (pe >= 0 || ctx.channels.kernels == nullptr) return pe;
  return detail::watch_pool(ctx, ctx.channels.kernels->pool, start);
}

}  // namespace channel

namespace detail {

// The first dead PE, if a wait that began at `start` has lasted CHIME_TIMEOUT since its death was
// seen; else -1. That PE need not be the awaited one: a wait for a word does not know which PE
// writes it.
CHIME_DEVICE int dead_for_long(const Context& ctx, std::uint64_t start) {
  using exec::Order;
  using exec::Scope;
  const int dead = first_dead(ctx);
  const std::uint64_t patience = ctx.pe.wait_timeout_ns, now = exec::clock_ns();
  if (dead < 0 || patience == 0) return -1;
  std::uint64_t* const seen_at = &ctx.pe.abort->dead_seen_ns;
  const std::uint64_t before =
      exec::atomic_cas<Order::kRelaxed, Scope::kSystem>(seen_at, std::uint64_t{0}, now);
  const std::int64_t waited = channel::detail::ns_between(start, now),
                     since = before == 0 ? 0 : channel::detail::ns_between(before, now);
  return (waited < since ? waited : since) >= static_cast<std::int64_t>(patience) ? dead : -1;
}

// For a wait that began at `start`: the PE it has lost all hope of; -1: there is none. Polls a
// channel, as channel::watch says.
CHIME_DEVICE_OUT_OF_LINE int lost_or_dead(const Context& ctx, std::uint64_t start) {
  const int lost = has_channels(ctx) ? channel::watch(ctx, start) : -1;
  return lost >= 0 ? lost : dead_for_long(ctx, start);
}

}  // namespace detail

// Waits for another PE, and watches this PE's channels. A wait without a bound of its own ends when
// a channel has been lost, or a PE dead, for CHIME_TIMEOUT; the others end at their bound.
template <class Done>
CHIME_DEVICE WaitResult wait_for_peers(const Context& ctx, const Wait& wait, Done done) {
  return spin_until(ctx, wait, done, [&](std::uint64_t start) {
    const int lost = detail::lost_or_dead(ctx, start);
    return wait.timeout_ns == 0 ? lost : -1;
  });
}

}  // namespace chime

#endif  // CHIME_DEVICE_CHANNEL_WATCH_CUH_
