// From requests to a doorbell: steps 1 to 9 of device/path/README.md, "Submit".
#ifndef CHIME_DEVICE_PATH_NIC_SUBMIT_CUH_
#define CHIME_DEVICE_PATH_NIC_SUBMIT_CUH_

#include <cstdint>
#include <type_traits>

#include "chime/abi/nic.h"
#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/complete.cuh"
#include "chime/device/path/nic/group.cuh"
#include "chime/device/path/nic/queue.cuh"

namespace chime::nic {

// What one thread puts into a queue.
struct Shape {
  unsigned wqebbs;    // at most 3: 32 lanes that post together take kNicMostAtOnce
  bool more = false;  // another submission of the same call follows: it rings for this one too
  bool wide = false;  // the last request takes two WQEBBs
};

namespace detail {

inline constexpr std::uint64_t kNoRoom = ~std::uint64_t{0};

// The queues to a peer that somebody has posted to, as neighbouring bits.
struct PeerBits {
  std::uint64_t* word;
  unsigned shift;
};
CHIME_DEVICE PeerBits peer_bits(const abi::NicContext& nic, int pe) {
  const std::uint64_t first = abi::nic_queue_index(nic.slots, 0, static_cast<unsigned>(pe));
  return {nic.touched + first / 64, static_cast<unsigned>(first % 64)};
}
CHIME_DEVICE std::uint64_t slots_mask(const abi::NicContext& nic) {
  return ~std::uint64_t{0} >> (64 - nic.slots);
}

// By the first posters of a queue. The bit comes before the look at the other queues: a fence
// either sees it and drains them, or has put before what is drained here. Pairs with the fence in
// nic::fence. Who sees the queue used sees the bit.
CHIME_DEVICE void first_touch(const Context& ctx, NicQueue& queue) {
  const abi::NicContext& nic = context_of(ctx, queue);
  const PeerBits bits = peer_bits(nic, queue.pe);
  const unsigned slot = queue.index % nic.slots;
  exec::red_or<Order::kRelease, Scope::kDevice>(bits.word, std::uint64_t{1} << (bits.shift + slot));
  exec::fence<Order::kSeqCst, Scope::kDevice>();
  const std::uint64_t all = exec::ld<Order::kRelaxed, Scope::kDevice>(bits.word) >> bits.shift;
  std::uint64_t others = all & slots_mask(nic) & ~(std::uint64_t{1} << slot);
  NicQueue* const first = &queue - slot;
  for (; others != 0; others &= others - 1) {
    drain(ctx, first[exec::lowest_bit(others)]);  // its failure would not be this queue's
  }
  exec::red_and<Order::kRelease, Scope::kDevice>(&queue.consumer.done, ~abi::kNicFresh);
}

// For a queue that is fresh or out of use. False for the latter.
CHIME_DEVICE_OUT_OF_LINE bool may_be_used(const Context& ctx, NicQueue& queue) {
  if (is_stopped(queue)) return false;
  first_touch(ctx, queue);
  return true;
}

CHIME_DEVICE bool is_rare(std::uint64_t done) {
  return (done & (abi::kNicStopped | abi::kNicFresh)) != 0;
}

// Step 3, where there is no room yet: polls until there is.
CHIME_DEVICE_OUT_OF_LINE bool await_room(const Context& ctx, NicQueue& queue, std::uint64_t end) {
  return !is_stopped(queue) && poll_until_done(ctx, queue, end - queue.depth);
}

// Step 5, where it is somebody else's turn. Release: what was written here is older than what this
// poster stores when it has the turn.
CHIME_DEVICE_OUT_OF_LINE std::uint64_t await_turn(const Context& ctx, NicQueue& queue,
                                                  std::uint64_t base) {
  fence_for_nic<Order::kRelease>(queue.flags);
  std::uint64_t ready = 0;
  const Wait wait = wait_for_word(ctx, queue, &queue.producer.ready, base);
  const bool is_mine = wait_on_queue(ctx, queue, wait, ready, [&] {
    ready = load<Order::kRelaxed>(queue.producer.ready);
    return end_of(ready) == base;
  });
  return is_mine ? ready : kNoRoom;
}

// Step 8. The first fence releases also where this poster has before its wait: what it acquired
// since. A NIC that looks ahead may read this record for an older doorbell, and takes what is below
// for whole.
CHIME_DEVICE void ring(const QueueView& view, std::uint64_t end) {
  fence_for_nic<Order::kAcqRel>(view.flags);  // (a) (b)
  exec::st<Order::kRelaxed, Scope::kSystem>(view.record, abi::doorbell_record(end));
  fence_for_nic<Order::kRelease>(view.flags);  // (c)
  exec::st_mmio(view.doorbell, abi::doorbell_value(end, view.qpn_be));
}

// Step 9, by who has rung. Release: a later doorbell must not overtake.
CHIME_DEVICE void publish(NicQueue& queue, NicSharing sharing, std::uint64_t next) {
  std::uint64_t* const ready = &queue.producer.ready;
  if (sharing == NicSharing::kGpu) {
    exec::st<Order::kRelease, Scope::kDevice>(ready, next);
  } else if (sharing == NicSharing::kBlock) {
    exec::st<Order::kRelease, Scope::kBlock>(ready, next);
  } else {
    exec::st<Order::kRelaxed, Scope::kBlock>(ready, next);
  }
}

// Step 9, by who leaves the ringing to others. A read-modify-write: what the posters before have
// released is released by it, too, though this one has not acquired it.
CHIME_DEVICE void pass_on(NicQueue& queue, NicSharing sharing, std::uint64_t now,
                          std::uint64_t next) {
  std::uint64_t* const ready = &queue.producer.ready;
  if (sharing == NicSharing::kGpu) {
    exec::red_add<Order::kRelaxed, Scope::kDevice>(ready, next - now);
  } else if (sharing == NicSharing::kBlock) {
    exec::red_add<Order::kRelaxed, Scope::kBlock>(ready, next - now);
  } else {
    exec::st<Order::kRelaxed, Scope::kBlock>(ready, next);
  }
}

// Steps 5 to 9, by the leader. False if the queue is out of use.
CHIME_DEVICE bool hand_in(const Context& ctx, NicQueue& queue, QueueView view, std::uint64_t base,
                          unsigned n, const Shape& shape) {
  const std::uint64_t end = base + n;
  std::uint64_t ready = load<Order::kRelaxed>(queue.producer.ready);
  const bool must_wait = end_of(ready) != base;
  if (must_wait) {
    ready = await_turn(ctx, queue, base);
    if (ready == kNoRoom) return false;
    view = view_of(queue);  // again: it need not be kept over the wait
  }
  const bool is_due = !shape.more || (ready & abi::kNicOwed) != 0;
  const bool at_edge = base / abi::kNicBatch != end / abi::kNicBatch;
  const bool rings = at_edge || (is_due && load<Order::kRelaxed>(queue.producer.resv) == end);
  const std::uint64_t written = end | (shape.wide ? abi::kNicWide : 0);
  if (rings) {
    ring(view, end);
    publish(queue, view.sharing, written);  // (d)
  } else {
    if (!must_wait) fence_for_nic<Order::kRelease>(view.flags);  // (a)
    pass_on(queue, view.sharing, ready, written | (is_due ? abi::kNicOwed : 0));
  }
  return true;
}

}  // namespace detail

// Step 1. False if the queue is out of use. Before a thread posts as Alone: submit() asks itself
// only for other groups.
CHIME_DEVICE bool may_post(const Context& ctx, NicQueue& queue) {
  return !detail::is_rare(load<Order::kRelaxed>(queue.consumer.done)) ||
         detail::may_be_used(ctx, queue);
}

// Puts requests into the queue and sees to their doorbell. `write(view, index, ce)` writes the
// calling thread's, from WQEBB `index` on; the last of them with `ce`. What it needs it had better
// find itself: then it is in no register while this waits for room. All threads that submit
// together return when it is done. The ticket is not ok if the queue is out of use.
template <class Group, class Write>
CHIME_DEVICE Ticket submit(const Context& ctx, Group group, NicQueue& queue, const Shape& shape,
                           Write write) {
  // Relaxed: only stores follow that depend on it.
  const std::uint64_t done = load<Order::kRelaxed>(queue.consumer.done);
  if constexpr (!std::is_same_v<Group, Alone>) {
    if (detail::is_rare(done) && !detail::may_be_used(ctx, queue)) return {};
  }
  const exec::Committed from_reservation_to_hand_in;
  const Posters posters = posters_to(group, queue, shape.wqebbs);
  const unsigned n = posters.count() * shape.wqebbs;
  QueueView view = view_of(queue);
  std::uint64_t base = 0;
  if (posters.is_leader()) {
    base = take(queue, view.sharing, n);
    if (base + n - end_of(done) > view.depth) {
      if (!detail::await_room(ctx, queue, base + n)) base = detail::kNoRoom;
      view = view_of(queue);
    }
  }
  base = posters.from_leader(base);
  if (base == detail::kNoRoom) return {};
  write(view, base + posters.rank() * shape.wqebbs,
        posters.is_last() ? abi::kCqeAlways : abi::kCqeOnFirstError);
  posters.sync();
  bool is_in = true;
  if (posters.is_leader()) is_in = detail::hand_in(ctx, queue, view, base, n, shape);
  is_in = posters.from_leader(is_in);
  posters.sync();  // a quiet of any of them finds what the leader has handed in
  if (!is_in) return {};
  return {&queue, base + n - (shape.wide ? 1 : 0)};
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_SUBMIT_CUH_
