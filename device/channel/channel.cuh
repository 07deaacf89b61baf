// A channel for posters and pollers: its counters, with the scope of the threads that share it.
// device/channel/README.md has the protocol.
#ifndef CHIME_DEVICE_CHANNEL_CHANNEL_CUH_
#define CHIME_DEVICE_CHANNEL_CHANNEL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/device/exec/exec.cuh"
// Included after device/exec/exec.cuh, which defines how the functions of abi/ are declared.
#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/abi/words.h"

namespace chime::channel {

using abi::Channel;
using exec::Order;
using exec::Scope;

// The functions that differ between the paths of channels (path.cuh):
//
// poll(channel, done): looks once for a completion. `done` is the counter as the caller has just
// seen it. Returns the latest known value, with kStopped if the channel is out of use.
// keeps_order(channel): whether the peer sees writes in the order in which they were committed.
// describe_error(ctx, channel, fault): fills in what is known of the request that failed, for
// Stop::kError.
// has_lost(channel, pe): whether requests to the peer have failed.
// has_other_path(ctx, channel): whether stores reach a peer to which the channel has also sent.
// View, view_of(channel): what a post needs of its channel, read once.
// commit(ctx, channel, view, base, all): the leader's work when the units of `all`, from `base` on,
// are written; false if the channel is out of use.
// await_room(ctx, channel, end): for paths without kCommits, where the consumer finds each request
// by itself. Waits until the units before `end` may be written; false if the channel is out of use.
template <Path kPath>
struct ChannelTraits;

// ---- Counters -----------------------------------------------------------------------------------
// All are device-wide: any thread of the device may post and poll.

template <Order kOrder, class T>
CHIME_DEVICE T load(const T& word) {
  return exec::ld<kOrder, Scope::kDevice>(&word);
}

// Orders what the poster stored before it (kRelease), and what the poster has seen of others'
// stores (kAcquire), before its later stores: for the agent that carries out the requests, and for
// the poster that has the next turn. System scope, wherever the queue lies: PTX has no narrower
// scope that includes a NIC or a host.
template <Order kOrder>
CHIME_DEVICE void fence_for_consumer() {
  exec::fence<kOrder, Scope::kSystem>();
}

// The index in `ready` or `done`, without the upper bits.
CHIME_DEVICE std::uint64_t end_of(std::uint64_t word) { return word & abi::kIndexBits; }

// The value that `done` has when everything below `ready` is complete.
CHIME_DEVICE std::uint64_t target_of(std::uint64_t ready) {
  return end_of(ready) - abi::tail_of(ready);
}

// The value that `done` has when everything that was committed before is complete.
CHIME_DEVICE std::uint64_t target(const Channel& channel) {
  return target_of(load<Order::kRelaxed>(channel.producer.ready));
}

// The same without announcements that were committed last: they are no operations of a program.
CHIME_DEVICE std::uint64_t target_of_operations(const Channel& channel) {
  const std::uint64_t ready = load<Order::kRelaxed>(channel.producer.ready);
  const std::uint64_t announced = load<Order::kRelaxed>(channel.producer.announced);
  if (abi::announced_end(announced) != end_of(ready)) return target_of(ready);
  return end_of(ready) - abi::announced_units(announced);
}

// Called by the poster of an announcement, which has taken the unit before `end`. Posters that do
// so at the same time may lose each other's notes: then a quiet waits for more than it must.
CHIME_DEVICE void note_announcement(Channel& channel, std::uint64_t end) {
  const std::uint64_t before = load<Order::kRelaxed>(channel.producer.announced);
  const bool follows = abi::announced_end(before) + 1 == end;
  exec::st<Order::kRelaxed, Scope::kDevice>(
      &channel.producer.announced,
      abi::announced_word(end, follows ? abi::announced_units(before) + 1 : 1));
}

// The fields that the host wrote before any thread found the channel, in one load.
CHIME_DEVICE abi::ChannelHead head_of(const Channel& channel) {
  return exec::ld_settled(&channel.head);
}

// ---- Out of use ---------------------------------------------------------------------------------

CHIME_DEVICE bool is_stopped(const Channel& channel) {
  return (load<Order::kRelaxed>(channel.progress.done) & abi::kStopped) != 0;
}

// Whether the channel is out of use, or one of its requests has failed.
CHIME_DEVICE bool has_failed(const Channel& channel) {
  return (load<Order::kRelaxed>(channel.progress.done) & (abi::kStopped | abi::kSomeLost)) != 0;
}

// Whether everything below `target` is complete, according to `done`, which stands still when the
// channel is stopped: earlier completions remain valid.
CHIME_DEVICE bool reaches(std::uint64_t done, std::uint64_t target) {
  return end_of(done) >= target;
}
// The same, or it never will be. One comparison: kStopped lies above all indices.
CHIME_DEVICE bool is_decided(std::uint64_t done, std::uint64_t target) {
  return (done & (abi::kStopped | abi::kIndexBits)) >= target;
}

// ---- Submissions --------------------------------------------------------------------------------

// What one thread puts into a channel, or all threads that submit together.
struct Shape {
  unsigned units;     // of a thread at most 3: 32 lanes that post together take 96
  bool more = false;  // another submission of the same call follows, and posts the doorbell for
                      // this one, too
  unsigned tail = 0;  // units that the last request takes after its first, at most abi::kMostTail
};

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_CHANNEL_CUH_
