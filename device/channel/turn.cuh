// The turn: posters commit one after the other, in the order of their reservations. `ready` is the
// lock: the poster whose base it equals has it, and passes it on.
#ifndef CHIME_DEVICE_CHANNEL_TURN_CUH_
#define CHIME_DEVICE_CHANNEL_TURN_CUH_

#include <cstdint>

#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/stop.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::channel {

inline constexpr std::uint64_t kNoTurn = ~std::uint64_t{0};

// Waits for the turn while another poster has it; returns `ready`, or kNoTurn if the channel is out
// of use. Release: what was written here is older than what this poster stores when it has the
// turn.
CHIME_DEVICE_OUT_OF_LINE std::uint64_t await_turn(const Context& ctx, Channel& channel,
                                                  std::uint64_t base) {
  fence_for_consumer<Order::kRelease>();
  std::uint64_t ready = 0;
  const auto wait_for = [&] { return wait_for_word(ctx, channel, &channel.producer.ready, base); };
  const bool is_mine = wait_on(ctx, channel, wait_for, [&] {
    ready = load<Order::kRelaxed>(channel.producer.ready);
    return end_of(ready) == base;
  });
  return is_mine ? ready : kNoTurn;
}

// Called by the poster that has notified the consumer of all requests before `next`. Release: a
// later notification must not overtake.
CHIME_DEVICE void publish(Channel& channel, std::uint64_t next) {
  exec::st<Order::kRelease, Scope::kDevice>(&channel.producer.ready, next);
}

// Called by a poster that leaves the notification to a later one. A read-modify-write: it also
// releases what earlier posters have released, although this one has not acquired it.
CHIME_DEVICE void pass_on(Channel& channel, std::uint64_t now, std::uint64_t next) {
  exec::red_add<Order::kRelaxed, Scope::kDevice>(&channel.producer.ready, next - now);
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_TURN_CUH_
