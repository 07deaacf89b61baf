// How far a channel's requests are complete: pollers write it, and threads that wait read it.
#ifndef CHIME_DEVICE_CHANNEL_PROGRESS_CUH_
#define CHIME_DEVICE_CHANNEL_PROGRESS_CUH_

#include <cstdint>

#include "chime/device/channel/channel.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::channel {
namespace detail {

// Publishes in `word` that requests are complete up to `end`; returns the word's value before.
// Release: a thread that acquires the word sees what the poller has acquired with the completion.
CHIME_DEVICE std::uint64_t move_to(std::uint64_t* word, std::uint64_t end) {
  return exec::atomic_max<Order::kRelease, Scope::kDevice>(word, end);
}

}  // namespace detail

// A poller has found that requests have ended up to `end`, with or without an error. Called where
// the channel is out of use.
CHIME_DEVICE void advance_failed(Channel& channel, std::uint64_t end) {
  detail::move_to(&channel.progress.failed, end);
}

// A poller has found that `done` may become `through`: an index, with kSomeLost if requests have
// failed. From then on every value has that bit, so that the greater word is the later one. `done`
// stands still from the first failure on. Returns the latest known value of `done`.
CHIME_DEVICE std::uint64_t advance_to(Channel& channel, std::uint64_t through) {
  const std::uint64_t before = detail::move_to(&channel.progress.done, through);
  if ((before & abi::kStopped) == 0) return through;
  advance_failed(channel, end_of(through));
  return before;
}

// How far the requests have ended, with or without an error. Pairs with the releases in move_to():
// no request below it touches memory any more.
CHIME_DEVICE std::uint64_t through(const Channel& channel) {
  const std::uint64_t done = end_of(load<Order::kAcquire>(channel.progress.done));
  const std::uint64_t failed = load<Order::kAcquire>(channel.progress.failed);
  return done < failed ? failed : done;
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_PROGRESS_CUH_
