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

// Polls until `done`, which `seen` becomes, has reached `target`. False if the channel is out of
// use. In line for loops over channels, whose own state would lie over the call.
//
// `pe`: whom it is to be waited for, -1 if that is not one.
template <Path kPath>
CHIME_DEVICE bool poll_until_done(const Context& ctx, Channel& channel, std::uint64_t target,
                                  int pe, std::uint64_t& seen) {
  const auto is_there = [&] {
    seen = load<Order::kRelaxed>(channel.progress.done);
    return reaches(seen, target);
  };
  Wait wait = wait_for_word(ctx, channel, &channel.progress.done, target);
  wait.pe = pe;
  const bool is_done = wait_on(ctx, channel, wait, seen, [&] {
    if (is_there()) return true;
    poll<kPath>(channel);
    return is_there();
  });
  // Pairs with the release in move_to(), of whoever polled.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  return is_done;
}

template <Path kPath>
CHIME_DEVICE_OUT_OF_LINE bool await_done(const Context& ctx, Channel& channel,
                                         std::uint64_t target) {
  std::uint64_t seen = 0;
  return poll_until_done<kPath>(ctx, channel, target, channel.pe, seen);
}

// Waits for the end of a submission: sources may be reused, data of reads and results are here.
template <Path kPath>
CHIME_DEVICE bool wait_for(const Context& ctx, Ticket ticket) {
  return ticket.ok() && await_done<kPath>(ctx, *ticket.channel, ticket.target);
}

// Waits until everything that was handed in to the channel is complete. False if some of it has
// failed.
template <Path kPath = kAny>
CHIME_DEVICE bool drain(const Context& ctx, Channel& channel) {
  std::uint64_t seen = 0;
  return poll_until_done<kPath>(ctx, channel, target(channel), channel.pe, seen) &&
         (kPath == Path::kNic || (seen & abi::kSomeLost) == 0);
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_COMPLETE_CUH_
