// How far a channel's requests are complete: told by pollers, read by whoever waits.
#ifndef CHIME_DEVICE_CHANNEL_PROGRESS_CUH_
#define CHIME_DEVICE_CHANNEL_PROGRESS_CUH_

#include <cstdint>

#include "chime/device/channel/channel.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::channel {
namespace detail {

// Tells everybody in `word` that requests are complete up to `end`; returns what the word was.
// Release: what the poller has acquired with the completion is there for who acquires the word.
CHIME_DEVICE std::uint64_t move_to(std::uint64_t* word, std::uint64_t end) {
  return exec::atomic_max<Order::kRelease, Scope::kDevice>(word, end);
}

}  // namespace detail

// A poller knows that requests have ended up to `end`, well or not: told where the channel is out
// of use.
CHIME_DEVICE void advance_failed(Channel& channel, std::uint64_t end) {
  detail::move_to(&channel.progress.failed, end);
}

// A poller knows that `done` may become `through`, which is an index, and kSomeLost where requests
// have failed: then all that comes has it, so that the greater word is the later one. `done` stands
// still from the first failure on. Returns what `done` is known to be.
CHIME_DEVICE std::uint64_t advance_to(Channel& channel, std::uint64_t through) {
  const std::uint64_t before = detail::move_to(&channel.progress.done, through);
  if ((before & abi::kStopped) == 0) return through;
  advance_failed(channel, end_of(through));
  return before;
}

// How far the requests have ended, however they did. Pairs with the releases in move_to(): memory
// of a request below is not touched any more.
CHIME_DEVICE std::uint64_t through(const Channel& channel) {
  const std::uint64_t done = end_of(load<Order::kAcquire>(channel.progress.done));
  const std::uint64_t failed = load<Order::kAcquire>(channel.progress.failed);
  return done < failed ? failed : done;
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_PROGRESS_CUH_
