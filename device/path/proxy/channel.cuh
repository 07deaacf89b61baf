// A FIFO of requests to the proxy as a channel. proxy/README.md has the protocol.
//
// A slot becomes valid when it is written: no later step commits it. The proxy writes two words in
// the host's memory. One says how far requests are complete; a look at it updates `done`, which
// quiet and posters read first. A poster looks at it only if `done` leaves no room. The other says
// how far slots were read: a request that does not end keeps no slot.
#ifndef CHIME_DEVICE_PATH_PROXY_CHANNEL_CUH_
#define CHIME_DEVICE_PATH_PROXY_CHANNEL_CUH_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/proxy_fifo.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/progress.cuh"
#include "chime/device/channel/stop.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::fifo {

using abi::Channel;
using channel::load;
using exec::Order;
using exec::Scope;

// The values of its FIFO that a post needs, read once.
struct FifoView {
  abi::ChannelHead head;
};

// Looks once for a completion. (In a FIFO that is out of use it looks always: kStopped makes `done`
// negative. `through` then still reports what ends.)
CHIME_DEVICE std::uint64_t poll(Channel& fifo, std::uint64_t done) {
  // Acquire: pairs with the proxy's release. Results, data of gets, and the bits of lost peers are
  // there.
  const std::uint64_t through =
      exec::ld<Order::kAcquire, Scope::kSystem>(&fifo.fifo.report->through);
  if (static_cast<std::int64_t>(through) <= static_cast<std::int64_t>(done)) return done;
  return channel::advance_to(fifo, through);
}
CHIME_DEVICE void poll(Channel& fifo) { poll(fifo, load<Order::kRelaxed>(fifo.progress.done)); }

// Waits until the slots before `end` may be written: the proxy has read their contents. Here many
// requests are in flight, so this also makes the next posters check whether one peer causes it.
CHIME_DEVICE bool await_room(const Context& ctx, Channel& fifo, std::uint64_t end) {
  const std::uint64_t target = end - fifo.head.depth;
  if (exec::ld<Order::kRelaxed, Scope::kSystem>(&fifo.fifo.report->at_limit) != 0) {
    exec::st<Order::kRelaxed, Scope::kDevice>(&fifo.producer.limited, 1);
  }
  std::uint64_t* const taken = &fifo.progress.taken;
  std::uint64_t seen = 0;
  const auto wait_for = [&] { return channel::wait_for_word(ctx, fifo, taken, target); };
  return channel::wait_on(ctx, fifo, wait_for, [&] {
    seen = load<Order::kRelaxed>(*taken);
    if (seen >= target) return true;
    poll(fifo);
    // Relaxed: only stores that depend on it follow.
    seen = exec::ld<Order::kRelaxed, Scope::kSystem>(&fifo.fifo.report->taken);
    exec::atomic_max<Order::kRelaxed, Scope::kDevice>(taken, seen);
    return seen >= target;
  });
}

CHIME_DEVICE bool has_bit(const std::uint64_t* bits, int pe) {
  return (exec::ld<Order::kRelaxed, Scope::kSystem>(&bits[pe / 64]) >> pe % 64 & 1) != 0;
}

// Whether requests to `pe` fail. `done`: its value when the requests in question were known to have
// ended.
CHIME_DEVICE bool has_lost(const Channel& fifo, std::uint64_t done, int pe) {
  return (done & abi::kSomeLost) != 0 && has_bit(fifo.fifo.lost, pe);
}

// The first request that failed.
CHIME_DEVICE void describe_error(const Context& ctx, const Channel& fifo,
                                 abi::ChannelFault& fault) {
  const abi::ProxyFailure& failure = fifo.fifo.report->failure;
  fault.address = reinterpret_cast<std::uint64_t>(ctx.pe.heap) + failure.at;
  fault.bytes = failure.bytes;
  fault.pe = failure.pe;
  fault.error = failure.status;
  fault.opcode = static_cast<std::uint8_t>(failure.kind);
  fault.number = fifo.index;
}

}  // namespace chime::fifo

namespace chime::channel {

template <>
struct ChannelTraits<Path::kProxy> {
  using View = fifo::FifoView;
  static constexpr bool kCommits = false;
  CHIME_DEVICE static View view_of(const Channel& channel) { return {head_of(channel)}; }

  CHIME_DEVICE static std::uint64_t poll(Channel& channel, std::uint64_t done) {
    return fifo::poll(channel, done);
  }

  CHIME_DEVICE static bool await_room(const Context& ctx, Channel& channel, std::uint64_t end) {
    return fifo::await_room(ctx, channel, end);
  }

  CHIME_DEVICE static bool keeps_order(const Channel& channel) {
    return (head_of(channel).flags & abi::kProxyUnordered) == 0;
  }

  CHIME_DEVICE static bool has_lost(const Channel& channel, int pe) {
    return is_stopped(channel) ||
           fifo::has_lost(channel, load<Order::kRelaxed>(channel.progress.done), pe);
  }

  CHIME_DEVICE static bool has_other_path(const Context&, const Channel& channel) {
    return load<Order::kRelaxed>(channel.producer.mapped) != 0;
  }

  CHIME_DEVICE static void describe_error(const Context& ctx, const Channel& channel,
                                          abi::ChannelFault& fault) {
    fifo::describe_error(ctx, channel, fault);
  }
};

}  // namespace chime::channel

#endif  // CHIME_DEVICE_PATH_PROXY_CHANNEL_CUH_
