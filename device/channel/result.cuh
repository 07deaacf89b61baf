// Results that come back into a channel's own memory. Each goes to the place of its request's first
// unit, which has a busy word.
//
// busy: 0 -> 1 by the poster, before the request is written; 1 -> 0 by the reader, with the value.
#ifndef CHIME_DEVICE_CHANNEL_RESULT_CUH_
#define CHIME_DEVICE_CHANNEL_RESULT_CUH_

#include <cstdint>

#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/stop.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::channel {
namespace detail {

// A reader of the lap before has not taken its value yet. That reader holds no reservation.
CHIME_DEVICE_OUT_OF_LINE void await_reader(const Context& ctx, Channel& channel,
                                           std::uint64_t* word) {
  std::uint64_t busy = 1;
  const auto wait_for = [&] { return wait_for_word(ctx, channel, word, 0); };
  wait_on(ctx, channel, wait_for, [&] {
    busy = load<Order::kAcquire>(*word);  // (g)
    return busy == 0;
  });
}

}  // namespace detail

// Takes the place of a result for the request. If that fails, the channel is out of use, which the
// submission finds.
CHIME_DEVICE void take_result_place(const Context& ctx, Channel& channel, std::uint64_t* busy) {
  // (f): this thread sees the busy word that the poster of the lap before has set.
  load<Order::kAcquire>(channel.progress.done);
  if (load<Order::kAcquire>(*busy) != 0) detail::await_reader(ctx, channel, busy);
  exec::st<Order::kRelaxed, Scope::kDevice>(busy, 1);
}

// Called by the reader when it has the value.
CHIME_DEVICE void free_result_place(std::uint64_t* busy) {
  exec::st<Order::kRelease, Scope::kDevice>(busy, 0);  // (g)
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_RESULT_CUH_
