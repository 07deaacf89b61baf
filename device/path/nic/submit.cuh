// From requests to a doorbell: steps 1 to 9 of device/path/README.md, "Submit".
#ifndef CHIME_DEVICE_PATH_NIC_SUBMIT_CUH_
#define CHIME_DEVICE_PATH_NIC_SUBMIT_CUH_

#include <cstdint>

#include "chime/abi/nic.h"
#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/complete.cuh"
#include "chime/device/path/nic/group.cuh"
#include "chime/device/path/nic/queue.cuh"

namespace chime::nic {

// What one thread puts into a queue.
struct Shape {
  unsigned wqebbs;    // at most 2 of a thread whose lanes post with it, 64 of one that posts alone
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
CHIME_DEVICE PeerBits peer_bits(Domain domain, int pe) {
  const std::uint64_t first = abi::nic_queue_index(domain.nic.slots, 0, static_cast<unsigned>(pe));
  return {domain.nic.touched + first / 64, static_cast<unsigned>(first % 64)};
}
CHIME_DEVICE std::uint64_t slots_mask(const abi::NicContext& nic) {
  return ~std::uint64_t{0} >> (64 - nic.slots);
}

// By the first poster of a queue, before it passes the turn on. The bit comes before the look at
// the other queues: a fence either sees it and drains them, or has put before what is drained here.
// Pairs with the fence in nic::fence.
CHIME_DEVICE_OUT_OF_LINE void first_touch(Domain domain, NicQueue& queue) {
  const PeerBits bits = peer_bits(domain, queue.pe);
  const unsigned slot = static_cast<unsigned>(index_of(domain, queue) % domain.nic.slots);
  exec::red_or<Order::kRelease, Scope::kDevice>(bits.word, std::uint64_t{1} << (bits.shift + slot));
  exec::fence<Order::kSeqCst, Scope::kDevice>();
  const std::uint64_t all = exec::ld<Order::kRelaxed, Scope::kDevice>(bits.word) >> bits.shift;
  std::uint64_t others = all & slots_mask(domain.nic) & ~(std::uint64_t{1} << slot);
  NicQueue* const first = &queue - slot;
  for (; others != 0; others &= others - 1) {
    drain(domain, first[exec::lowest_bit(others)]);  // its failure would not be this queue's
  }
}

// Step 3, where there is no room yet: polls until there is.
CHIME_DEVICE_OUT_OF_LINE bool await_room(Domain domain, NicQueue& queue, std::uint64_t end) {
  return await_done(domain, queue, end - queue.depth);
}

// Steps 2 and 3 for `n` WQEBBs. kNoRoom if the queue is out of use.
CHIME_DEVICE std::uint64_t reserve(Domain domain, NicQueue& queue, unsigned n) {
  if (is_stopped(queue)) return kNoRoom;
  const std::uint64_t base = take(queue, n);
  // Relaxed: only stores follow that depend on it.
  const std::uint64_t done = load<Order::kRelaxed>(queue, queue.consumer.done);
  const bool there_is_room = base + n - done <= queue.depth;
  if (!there_is_room && !await_room(domain, queue, base + n)) return kNoRoom;
  if (base == queue.start) first_touch(domain, queue);
  return base;
}

// Step 5, where it is somebody else's turn.
CHIME_DEVICE_OUT_OF_LINE std::uint64_t await_turn(Domain domain, NicQueue& queue,
                                                  std::uint64_t base) {
  std::uint64_t ready = 0;
  const Wait wait = wait_for_word(domain, queue, &queue.producer.ready, base);
  const bool is_mine = wait_on_queue(domain, queue, wait, ready, [&] {
    ready = load<Order::kAcquire>(queue, queue.producer.ready);
    return end_of(ready) == base;
  });
  return is_mine ? ready : kNoRoom;
}

// Step 8.
CHIME_DEVICE void ring(NicQueue& queue, std::uint64_t end) {
  exec::st<Order::kRelaxed, Scope::kSystem>(queue.record, abi::doorbell_record(end));
  fence_for_nic(queue);  // (c)
  exec::st_mmio(queue.doorbell, abi::doorbell_value(end, queue.qpn_be));
  store<Order::kRelaxed>(queue, queue.producer.posted, end);
}

// Steps 5 to 9, by the leader. False if the queue is out of use.
CHIME_DEVICE bool hand_in(Domain domain, NicQueue& queue, std::uint64_t base, unsigned n,
                          const Shape& shape) {
  if (is_stopped(queue)) return false;
  const std::uint64_t end = base + n;
  std::uint64_t ready = load<Order::kRelaxed>(queue, queue.producer.ready);
  if (end_of(ready) != base) {
    ready = await_turn(domain, queue, base);
    if (ready == kNoRoom) return false;
  }
  fence_for_nic(queue);  // (a) (b)
  const bool is_due = !shape.more || (ready & abi::kNicOwed) != 0;
  const bool at_edge = base / abi::kNicBatch != end / abi::kNicBatch;
  const bool rings =
      at_edge || (is_due && load<Order::kRelaxed>(queue, queue.producer.resv) == end);
  if (rings) ring(queue, end);
  const std::uint64_t next =
      end | (is_due && !rings ? abi::kNicOwed : 0) | (shape.wide ? abi::kNicWide : 0);
  if (rings) {
    store<Order::kRelease>(queue, queue.producer.ready, next);  // (d)
  } else {
    store<Order::kRelaxed>(queue, queue.producer.ready, next);  // the fence before it is enough
  }
  return true;
}

}  // namespace detail

// Puts requests into the queue and sees to their doorbell. `write(index, ce)` writes the calling
// thread's, from WQEBB `index` on; the last of them with `ce`. All threads that submit together
// return when it is done. The ticket is not ok if the queue is out of use.
template <class Group, class Write>
CHIME_DEVICE Ticket submit(Domain domain, Group group, NicQueue& queue, const Shape& shape,
                           Write write) {
  const exec::Committed from_reservation_to_hand_in;
  const Posters posters = posters_to(group, queue, shape.wqebbs);
  const unsigned n = posters.count * shape.wqebbs;
  std::uint64_t base = 0;
  if (posters.is_leader()) base = detail::reserve(domain, queue, n);
  base = posters.from_leader(base);
  if (base == detail::kNoRoom) return {};
  write(base + posters.rank * shape.wqebbs,
        posters.is_last() ? abi::kCqeAlways : abi::kCqeOnFirstError);
  posters.sync();
  bool is_in = true;
  if (posters.is_leader()) is_in = detail::hand_in(domain, queue, base, n, shape);
  is_in = posters.from_leader(is_in);
  posters.sync();  // a quiet of any of them finds what the leader has handed in
  if (!is_in) return {};
  return {&queue, base + n - (shape.wide ? 1 : 0)};
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_SUBMIT_CUH_
