// A channel as posters and pollers use it: its counters in the scope of those who share it.
// device/channel/README.md has the protocol.
#ifndef CHIME_DEVICE_CHANNEL_CHANNEL_CUH_
#define CHIME_DEVICE_CHANNEL_CHANNEL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/device/exec.cuh"

namespace chime::channel {

using abi::Channel;
using abi::Sharing;
using exec::Order;
using exec::Scope;

// What channels of path `kPath` do in their own way (path.cuh).
//
// poll(channel): looks once whether something has completed.
// target(channel): what `done` reaches when everything is complete that was handed in before.
// keeps_order(channel): whether the peer sees writes in the order in which they were handed in.
// describe_error(ctx, channel, fault): what is known of the request that failed, for Stop::kError.
// View, view_of(channel): what a post needs of its channel, read once.
// hand_in(ctx, channel, view, base, n, shape): what the leader does with n written units from
// `base` on; false if the channel is out of use.
template <Path kPath>
struct Of;

// ---- Counters -----------------------------------------------------------------------------------
// Loads and updates are device-wide for every channel; what a block's own saves is the scope of its
// atomic (submit.cuh) and of its hand-over (turn.cuh).

template <Order kOrder, class T>
CHIME_DEVICE T load(const T& word) {
  return exec::ld<kOrder, Scope::kDevice>(&word);
}

// What the poster stored comes before what it stores after (kRelease), what it has seen of others'
// stores before what it does after (kAcquire): for who carries the requests out, and for who takes
// the next turn.
template <Order kOrder>
CHIME_DEVICE void fence_for_consumer(std::uint32_t flags) {
  if ((flags & abi::kOnGpu) != 0) {
    exec::fence<kOrder, Scope::kDevice>();
  } else {
    exec::fence<kOrder, Scope::kSystem>();
  }
}

// The index in `ready` or `done`, without their upper bits.
CHIME_DEVICE std::uint64_t end_of(std::uint64_t word) { return word & abi::kIndexBits; }

// What `done` reaches when everything below `ready` is complete.
CHIME_DEVICE std::uint64_t target_of(std::uint64_t ready) {
  return end_of(ready) - ((ready & abi::kWide) != 0 ? 1 : 0);
}

// ---- Out of use ---------------------------------------------------------------------------------

CHIME_DEVICE bool is_stopped(const Channel& channel) {
  return (load<Order::kRelaxed>(channel.progress.done) & abi::kStopped) != 0;
}

// Whether everything below `target` is complete, as `done` says. It stands still when the channel
// is stopped: what was complete before is so.
CHIME_DEVICE bool reaches(std::uint64_t done, std::uint64_t target) {
  return end_of(done) >= target;
}

// ---- Submissions --------------------------------------------------------------------------------

// What one thread puts into a channel.
struct Shape {
  unsigned units;     // at most 3: 32 lanes that post together take 96
  bool more = false;  // another submission of the same call follows: it rings for this one too
  bool wide = false;  // the last request takes two units
};

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_CHANNEL_CUH_
