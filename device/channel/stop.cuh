// Takes a channel out of use. The thread that finds its failure does so, and writes down the cause.
#ifndef CHIME_DEVICE_CHANNEL_STOP_CUH_
#define CHIME_DEVICE_CHANNEL_STOP_CUH_

#include <cstdint>

#include "chime/abi/words.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/wait.cuh"

namespace chime::channel {

// True for the thread that takes the channel out of use: it then writes the cause, and publishes
// it.
CHIME_DEVICE bool claim_stop(Channel& channel, std::uint32_t status) {
  return exec::atomic_cas<Order::kRelaxed, Scope::kSystem>(&channel.progress.status, 0u, status) ==
         0;
}
// Release: everything behind `status` is complete. Pairs with the acquire in tell().
CHIME_DEVICE void publish_stop(Channel& channel) {
  exec::red_or<Order::kRelease, Scope::kSystem>(&channel.progress.done, abi::kStopped);
}

CHIME_DEVICE void stop(Channel& channel, std::uint32_t status) {
  if (claim_stop(channel, status)) publish_stop(channel);
}

// The calling thread ends a wait without its event, while others may wait for that thread's work.
// Reads the word's last value here, so that no caller keeps it while it waits.
CHIME_DEVICE void stop_by_wait(Channel& channel, abi::GivenUp wait) {
  if (!claim_stop(channel, abi::status_word(abi::Stop::kGaveUp))) return;
  wait.seen = load<Order::kRelaxed>(*reinterpret_cast<const std::uint64_t*>(wait.address));
  channel.progress.wait = wait;
  publish_stop(channel);
}

CHIME_DEVICE abi::GivenUp given_up(const Wait& wait, const WaitResult& result) {
  return {.address = reinterpret_cast<std::uint64_t>(wait.address),
          .expected = wait.expected,
          .seen = 0,
          .waited_ns = result.waited_ns,
          .status = result.status,
          .pe = result.pe};
}

// ---- Waits on a channel -------------------------------------------------------------------------

// The event: a word of the channel reaches `expected`.
CHIME_DEVICE Wait wait_for_word(const Context& ctx, const Channel& channel, const void* word,
                                std::uint64_t expected) {
  return {.operation = Operation::kNone,
          .address = word,
          .expected = expected,
          .pe = channel.pe,
          .timeout_ns = ctx.pe.wait_timeout_ns};
}

// Spins until `is_decided()`. This is true at the latest when the channel is stopped, and this
// function stops it when the wait is given up. `wait_for()`: as in spin_until_for(), for a word of
// 64 bits.
template <class WaitFor, class IsDecided>
CHIME_DEVICE void wait_until_decided(const Context& ctx, Channel& channel, WaitFor wait_for,
                                     IsDecided is_decided) {
  const WaitResult result = spin_until_for(ctx, wait_for, is_decided);
  if (!result.ok()) stop_by_wait(channel, given_up(wait_for(), result));
}

// Spins until `event()` or the channel is stopped. False if the thread must leave: the channel was
// stopped before or by this call.
template <class WaitFor, class Event>
CHIME_DEVICE bool wait_on(const Context& ctx, Channel& channel, WaitFor wait_for, Event event) {
  bool happened = false;
  wait_until_decided(ctx, channel, wait_for,
                     [&] { return (happened = event()) || is_stopped(channel); });
  return happened;
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_STOP_CUH_
