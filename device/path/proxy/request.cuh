// Requests: how they get into a FIFO (proxy/README.md, "Posting"), and how a thread waits for their
// end.
#ifndef CHIME_DEVICE_PATH_PROXY_REQUEST_CUH_
#define CHIME_DEVICE_PATH_PROXY_REQUEST_CUH_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chime/abi/channel.h"
#include "chime/abi/proxy_request.h"
#include "chime/device/channel/complete.cuh"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/proxy/channel.cuh"
#include "chime/device/path/proxy/wake.cuh"

namespace chime::fifo {

using channel::Alone;  // a thread that has looked at the FIFO before
using channel::Leader;
using channel::Posters;
using channel::Ticket;

// A thread's place in the FIFO, reserved and free.
class Place {
 public:
  CHIME_DEVICE Place(const FifoView& view, std::uint64_t index) : view_(view), index_(index) {}

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
  // A reader that sees the request also sees what the caller stored before: pairs with the proxy's
  // acquire (proxy/fifo.cpp).
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

namespace detail {

// Some peer was at its limit when a poster last looked (await_room). Waits until `pe` is below its
// limit, and holds no slot meanwhile, so other threads continue. False: `pe` is lost, or the wait
// was given up.
CHIME_DEVICE_OUT_OF_LINE bool await_limit(const Context& ctx, Channel& fifo, int pe) {
  if (exec::ld<Order::kRelaxed, Scope::kSystem>(&fifo.fifo.report->at_limit) == 0) {
    exec::st<Order::kRelaxed, Scope::kDevice>(&fifo.producer.limited, 0);
    return true;
  }
  Wait wait = channel::wait_for_word(ctx, fifo, &fifo.fifo.at_limit[pe / 64], 0);
  wait.pe = pe;
  bool is_lost = false;
  const WaitResult result = spin_until(ctx, wait, [&] {
    poll(fifo);
    is_lost =
        channel::is_stopped(fifo) || has_lost(fifo, load<Order::kRelaxed>(fifo.progress.done), pe);
    return is_lost || !has_bit(fifo.fifo.at_limit, pe);
  });
  if (!result.ok()) record_wait(ctx, wait, result, 1);
  return result.ok() && !is_lost;
}

}  // namespace detail

// Posts one request to `pe`, of kSlots slots, for each thread. `write(place)` writes it there. It
// had better load its inputs itself: then they occupy no registers while this waits for room. The
// ticket's target is one past the request's first slot. The ticket is not ok if the FIFO is out of
// use, or requests to `pe` fail.
template <unsigned kSlots, class Group, class Write>
CHIME_DEVICE Ticket post(const Context& ctx, Group group, Channel& fifo, int pe, Write write) {
  std::uint64_t done = 0;
  if constexpr (std::is_same_v<Group, Alone>) {
    done = load<Order::kRelaxed>(fifo.progress.done);
  } else {
    if (!channel::look<Path::kProxy>(ctx, fifo, done) || has_lost(fifo, done, pe)) return {};
    if (load<Order::kRelaxed>(fifo.producer.limited) != 0 && !detail::await_limit(ctx, fifo, pe))
      return {};
  }
  const exec::Committed from_reservation_to_request;
  const auto posters = channel::posters_to(group, fifo, kSlots);
  std::uint64_t end = 0;
  Ticket ticket = channel::submit_together<Path::kProxy>(
      ctx, posters, fifo, done, {.units = posters.count() * kSlots},
      [&](const FifoView& view, std::uint64_t base) {
        const std::uint64_t index = base + posters.rank() * kSlots;
        end = index + 1;
        write(Place{view, index});
      });
  ticket.target = end;
  wake_proxy(fifo);
  return ticket;
}

// Waits until all requests below `target` have ended, to whichever peer. True if `pe` is not lost.
// The end of the first failed request to a peer publishes that the peer is lost.
CHIME_DEVICE bool await_done(const Context& ctx, Channel& fifo, int pe, std::uint64_t target) {
  std::uint64_t seen = 0;
  return channel::poll_until_done<Path::kProxy>(ctx, fifo, target, pe, seen) &&
         !has_lost(fifo, seen, pe);
}
}  // namespace chime::fifo

#endif  // CHIME_DEVICE_PATH_PROXY_REQUEST_CUH_
