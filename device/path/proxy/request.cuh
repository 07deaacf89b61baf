// Requests: how they get into a FIFO (proxy/README.md, "Posting"), and how their end is waited for.
#ifndef CHIME_DEVICE_PATH_PROXY_REQUEST_CUH_
#define CHIME_DEVICE_PATH_PROXY_REQUEST_CUH_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/abi/channel.h"
#include "chime/abi/proxy_request.h"
#include "chime/device/channel/complete.cuh"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/path/proxy/channel.cuh"

namespace chime::fifo {

using channel::Alone;
using channel::Posters;
using channel::Ticket;

// A thread's place in the FIFO, reserved and free.
class Place {
 public:
  CHIME_DEVICE Place(const FifoView& view, std::uint64_t index) : view_(view), index_(index) {}

  CHIME_DEVICE std::uint32_t slot() const {
    return static_cast<std::uint32_t>(index_) & (view_.head.depth - 1u);
  }

  CHIME_DEVICE void put(const abi::ProxySlot& slot) const {
    fence();
    store(index_, slot);
  }
  CHIME_DEVICE void put(const abi::ProxySlot& first, const abi::ProxySlot& second) const {
    fence();
    store(index_, first);
    store(index_ + 1, second);
  }

 private:
  // Who sees the request finds what the caller stored before: pairs with the proxy's acquire
  // (proxy/fifo.cpp).
  CHIME_DEVICE static void fence() { channel::fence_for_consumer<Order::kRelease>(); }

  CHIME_DEVICE void store(std::uint64_t index, const abi::ProxySlot& slot) const {
    const std::uint64_t depth = view_.head.depth;
    std::byte* const at = view_.head.ring + (index & (depth - 1)) * sizeof(abi::ProxySlot);
    const abi::ProxySlot whole = abi::with_lap(slot, abi::proxy_lap(index, depth));
    exec::st16(at, half(whole.word[0], whole.word[1]));
    exec::st16(at + 16, half(whole.word[2], whole.word[3]));
  }
  CHIME_DEVICE static exec::Vec16 half(std::uint64_t a, std::uint64_t b) {
    return {{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32),
             static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32)}};
  }

  const FifoView& view_;
  const std::uint64_t index_;
};

// A group's leader. (Alone is a thread that has looked at the FIFO before.)
struct Leader {};

// One request to `pe`, of kSlots slots, of each thread. `write(place)` puts it there; what it needs
// it had better find itself: then it is in no register while this waits for room. The ticket is not
// ok if the FIFO is out of use, or requests to `pe` fail.
template <unsigned kSlots, class Group, class Write>
CHIME_DEVICE Ticket post(const Context& ctx, Group group, Channel& fifo, int pe, Write write) {
  std::uint64_t done = 0;
  if constexpr (std::is_same_v<Group, Alone>) {
    done = load<Order::kRelaxed>(fifo.progress.done);
  } else {
    if (!channel::look<Path::kProxy>(ctx, fifo, done) || has_lost(fifo, done, pe)) return {};
  }
  const exec::Committed from_reservation_to_request;
  const Posters posters = channel::posters_to(group, fifo, kSlots);
  return channel::submit_together<Path::kProxy>(
      ctx, posters, fifo, done, {.units = posters.count() * kSlots},
      [&](const FifoView& view, std::uint64_t base) {
        write(Place{view, base + posters.rank() * kSlots});
      });
}

// Waits until all that lies below `target` has ended, and `pe` is well. Who is lost is known with
// the end of the first request to him that failed.
CHIME_DEVICE bool await_done(const Context& ctx, Channel& fifo, int pe, std::uint64_t target) {
  std::uint64_t seen = 0;
  return channel::poll_until_done<Path::kProxy>(ctx, fifo, target, pe, seen) &&
         !has_lost(fifo, seen, pe);
}
CHIME_DEVICE bool wait_for(const Context& ctx, int pe, const Ticket& ticket) {
  return ticket.ok() && await_done(ctx, *ticket.channel, pe, ticket.target);
}

}  // namespace chime::fifo

#endif  // CHIME_DEVICE_PATH_PROXY_REQUEST_CUH_
