// A channel as posters and pollers use it: its counters in the scope of those who share it.
// device/channel/README.md has the protocol.
#ifndef CHIME_DEVICE_CHANNEL_CHANNEL_CUH_
#define CHIME_DEVICE_CHANNEL_CHANNEL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/device/exec/exec.cuh"
// Behind it: it says how the functions of abi/ are declared.
#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/abi/words.h"

namespace chime::channel {

using abi::Channel;
using exec::Order;
using exec::Scope;

// What channels of path `kPath` do in their own way (path.cuh).
//
// poll(channel, done): looks once whether something has completed. `done`: as the caller has just
// seen it; returns it as it is known to be then, of a channel that is out of use with kStopped.
// keeps_order(channel): whether the peer sees writes in the order in which they were committed.
// describe_error(ctx, channel, fault): what is known of the request that failed, for Stop::kError.
// has_lost(channel, pe): whether requests to the peer have failed.
// has_other_way(ctx, channel): whether stores reach a peer to whom something was sent by it.
// View, view_of(channel): what a post needs of its channel, read once.
// commit(ctx, channel, view, base, all): what the leader does when the units of `all`, from `base`
// on, are written; false if the channel is out of use.
// await_room(ctx, channel, end): without kCommits, where the consumer finds each request by itself.
// Waits until the units before `end` may be written; false if the channel is out of use.
template <Path kPath>
struct ChannelTraits;

// ---- Counters -----------------------------------------------------------------------------------
// All are device-wide: any thread of the device may post and poll.

template <Order kOrder, class T>
CHIME_DEVICE T load(const T& word) {
  return exec::ld<kOrder, Scope::kDevice>(&word);
}

// What the poster stored comes before what it stores after (kRelease), what it has seen of others'
// stores before what it does after (kAcquire): for who carries the requests out, and for who takes
// the next turn. Of the system, wherever the queue lies: PTX knows no narrower scope that a NIC or
// a host belongs to.
template <Order kOrder>
CHIME_DEVICE void fence_for_consumer() {
  exec::fence<kOrder, Scope::kSystem>();
}

// The index in `ready` or `done`, without their upper bits.
CHIME_DEVICE std::uint64_t end_of(std::uint64_t word) { return word & abi::kIndexBits; }

// What `done` reaches when everything below `ready` is complete.
CHIME_DEVICE std::uint64_t target_of(std::uint64_t ready) {
  return end_of(ready) - abi::tail_of(ready);
}

// What it reaches when everything is complete that was committed before.
CHIME_DEVICE std::uint64_t target(const Channel& channel) {
  return target_of(load<Order::kRelaxed>(channel.producer.ready));
}

// What the host wrote before anybody found the channel, in one load.
CHIME_DEVICE abi::ChannelHead head_of(const Channel& channel) {
  return exec::ld_settled(&channel.head);
}

// ---- Out of use ---------------------------------------------------------------------------------

CHIME_DEVICE bool is_stopped(const Channel& channel) {
  return (load<Order::kRelaxed>(channel.progress.done) & abi::kStopped) != 0;
}

// The same, or a request of it has failed.
CHIME_DEVICE bool has_failed(const Channel& channel) {
  return (load<Order::kRelaxed>(channel.progress.done) & (abi::kStopped | abi::kSomeLost)) != 0;
}

// Whether everything below `target` is complete, as `done` says. It stands still when the channel
// is stopped: what was complete before is so.
CHIME_DEVICE bool reaches(std::uint64_t done, std::uint64_t target) {
  return end_of(done) >= target;
}
// The same, or it never will. In one comparison: kStopped lies above all indices.
CHIME_DEVICE bool is_decided(std::uint64_t done, std::uint64_t target) {
  return (done & (abi::kStopped | abi::kIndexBits)) >= target;
}

// ---- Submissions --------------------------------------------------------------------------------

// What one thread puts into a channel, or all who submit together.
struct Shape {
  unsigned units;     // of a thread at most 3: 32 lanes that post each their own take 96
  bool more = false;  // another submission of the same call follows: it rings for this one too
  unsigned tail = 0;  // units that the last request takes behind its first, at most abi::kMostTail
};

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_CHANNEL_CUH_
