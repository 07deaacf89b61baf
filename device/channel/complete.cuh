// Waits for completions. Each thread that waits polls for all threads.
#ifndef CHIME_DEVICE_CHANNEL_COMPLETE_CUH_
#define CHIME_DEVICE_CHANNEL_COMPLETE_CUH_

#include <cstdint>

#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/path.cuh"
#include "chime/device/channel/stop.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::channel {

// Identifies the end of a submission: `done` of its channel reaches `target`.
struct Ticket {
  std::uint64_t target = 0;
  bool is_posted = false;  // else the submission failed

  CHIME_DEVICE bool ok() const { return is_posted; }
};

namespace detail {

CHIME_DEVICE Wait wait_for_done(const Context& ctx, const Channel& channel, std::uint64_t target) {
  return wait_for_word(ctx, channel, &channel.progress.done, target);
}

template <Path kPath, class WaitFor>
CHIME_DEVICE bool poll_until_done_for(const Context& ctx, Channel& channel, std::uint64_t target,
                                      std::uint64_t& seen, WaitFor wait_for) {
  wait_until_decided(ctx, channel, wait_for, [&] {
    seen = load<Order::kRelaxed>(channel.progress.done);
    if (reaches(seen, target)) return true;
    seen = poll<kPath>(channel, seen);  // also a channel that is out of use: `failed` moves on
    return is_decided(seen, target);
  });
  // Pairs with the release in move_to(), of the thread that polled.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  return reaches(seen, target);
}

}  // namespace detail

// Polls until `done` has reached `target`; `seen` becomes its last value. False if the channel is
// out of use. Inline, for loops over channels: their state would have to survive a call.
template <Path kPath>
CHIME_DEVICE bool poll_until_done(const Context& ctx, Channel& channel, std::uint64_t target,
                                  std::uint64_t& seen) {
  return detail::poll_until_done_for<kPath>(
      ctx, channel, target, seen, [&] { return detail::wait_for_done(ctx, channel, target); });
}
// The same for `pe`, in a channel that leads to many PEs.
template <Path kPath>
CHIME_DEVICE bool poll_until_done(const Context& ctx, Channel& channel, std::uint64_t target,
                                  int pe, std::uint64_t& seen) {
  return detail::poll_until_done_for<kPath>(ctx, channel, target, seen, [&] {
    Wait wait = detail::wait_for_done(ctx, channel, target);
    wait.pe = pe;
    return wait;
  });
}

template <Path kPath>
CHIME_DEVICE_OUT_OF_LINE bool await_done(const Context& ctx, Channel& channel,
                                         std::uint64_t target) {
  std::uint64_t seen = 0;
  return poll_until_done<kPath>(ctx, channel, target, seen);
}

// Waits for the end of a submission: then sources may be reused, and data of reads and results are
// here.
template <Path kPath>
CHIME_DEVICE bool wait_for(const Context& ctx, Channel& channel, Ticket ticket) {
  return ticket.ok() && await_done<kPath>(ctx, channel, ticket.target);
}

// What a drain waits for, of all that was committed to a channel.
enum class Extent {
  kWhole,
  kOperations,  // not for announcements behind the last operation of a program
};

// Waits until that is complete. False if some of it has failed.
template <Path kPath = kAny, Extent kExtent = Extent::kWhole>
CHIME_DEVICE bool drain(const Context& ctx, Channel& channel) {
  const std::uint64_t end =
      kExtent == Extent::kWhole ? target(channel) : target_of_operations(channel);
  std::uint64_t seen = 0;
  return poll_until_done<kPath>(ctx, channel, end, seen) &&
         (kPath == Path::kNic || (seen & abi::kSomeLost) == 0);
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_COMPLETE_CUH_
