// A path of a test's own, in the place that device code leaves for a third one: requests lie in a
// ring of plain memory, and whoever polls carries them out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/progress.cuh"
#include "chime/device/channel/turn.cuh"
#include "chime/device/exec.cuh"

namespace chime::proxy {

// All that `run` needs. It lies in the ring, so that sources by value are whole until then.
struct Request {
  void (*run)(const Request&);
  void* dst;
  const void* src;  // null: the words below
  std::size_t bytes;
  std::uint64_t word[2];
  std::uint64_t* result;
  std::uint64_t reserved;
};
static_assert(sizeof(Request) == 64);

}  // namespace chime::proxy

namespace chime::channel {

template <>
struct Of<Path::kProxy> {
  struct View {
    abi::ChannelHead head;
    proxy::Request* ring;
  };
  static View view_of(const Channel& channel) {
    return {channel.head, reinterpret_cast<proxy::Request*>(channel.head.ring)};
  }

  static bool hand_in(const Context& ctx, Channel& channel, const View& view, std::uint64_t base,
                      const Shape& all) {
    const std::uint64_t ready = load<Order::kAcquire>(channel.producer.ready);
    if (ready != base && await_turn(ctx, channel, base) == kNoTurn) return false;
    exec::fence<Order::kAcqRel, Scope::kSystem>();
    publish(channel, view.head.sharing, base + all.units);
    return true;
  }

  // One at a time: who takes the next request while none is being carried out.
  static void poll(Channel& channel) {
    const std::uint64_t done = end_of(load<Order::kAcquire>(channel.progress.done));
    if (done == target(channel)) return;
    std::uint64_t* const taken = &channel.progress.taken;
    if (exec::atomic_cas<Order::kAcqRel, Scope::kSystem>(taken, done, done + 1) != done) return;
    const proxy::Request& request = view_of(channel).ring[done & (channel.head.depth - 1u)];
    request.run(request);
    advance(channel, done, 1);
  }

  static std::uint64_t target(const Channel& channel) {
    return load<Order::kAcquire>(channel.producer.ready);
  }
  static bool keeps_order(const Channel&) { return true; }
  static void describe_error(const Context&, const Channel&, abi::ChannelFault&) {}
};

}  // namespace chime::channel
