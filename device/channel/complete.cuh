// Waits for completions. Each who waits polls for all.
#ifndef CHIME_DEVICE_CHANNEL_COMPLETE_CUH_
#define CHIME_DEVICE_CHANNEL_COMPLETE_CUH_

#include <cstdint>

#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/path.cuh"
#include "chime/device/channel/stop.cuh"
#include "chime/device/exec.cuh"

namespace chime::channel {

// What the end of a submission can be recognised by: `done` of the channel reaches `target`.
struct Ticket {
  Channel* channel = nullptr;  // null: the submission failed
  std::uint64_t target = 0;

  CHIME_DEVICE bool ok() const { return channel != nullptr; }
};

// Polls until `done` has reached `target`. False if the channel is out of use. In line for loops
// over channels, whose own state would lie over the call.
CHIME_DEVICE bool poll_until_done(const Context& ctx, Channel& channel, std::uint64_t target) {
  std::uint64_t seen = 0;
  const auto is_there = [&] {
    seen = load<Order::kRelaxed>(channel.progress.done);
    return reaches(seen, target);
  };
  const Wait wait = wait_for_word(ctx, channel, &channel.progress.done, target);
  const bool is_done = wait_on(ctx, channel, wait, seen, [&] {
    if (is_there()) return true;
    poll(channel);
    return is_there();
  });
  // Pairs with the release in move_on(), of whoever polled.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  return is_done;
}

CHIME_DEVICE_OUT_OF_LINE bool await_done(const Context& ctx, Channel& channel,
                                         std::uint64_t target) {
  return poll_until_done(ctx, channel, target);
}

// Waits for the end of a submission: sources may be reused, data of reads and results are here.
CHIME_DEVICE bool wait_for(const Context& ctx, Ticket ticket) {
  return ticket.ok() && await_done(ctx, *ticket.channel, ticket.target);
}

// Waits until everything that was handed in to the channel is complete.
CHIME_DEVICE bool drain(const Context& ctx, Channel& channel) {
  return poll_until_done(ctx, channel, target(channel));
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_COMPLETE_CUH_
