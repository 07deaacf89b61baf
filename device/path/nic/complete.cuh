// Completions: polled by whoever waits, told to all by `done`.
//
// Loads in a loop are relaxed; a fence stands behind what was found, and only there.
#ifndef CHIME_DEVICE_PATH_NIC_COMPLETE_CUH_
#define CHIME_DEVICE_PATH_NIC_COMPLETE_CUH_

#include <cstdint>

#include "chime/abi/nic.h"
#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/error.cuh"
#include "chime/device/path/nic/queue.cuh"

namespace chime::nic {

// What the end of a submission can be recognised by: `done` of the queue reaches `target`.
struct Ticket {
  NicQueue* queue = nullptr;  // null: the submission failed
  std::uint64_t target = 0;

  CHIME_DEVICE bool ok() const { return queue != nullptr; }
};

namespace detail {

// How far a CQE with `counter` is ahead of `done`; 0: it is old news. (An old one that is 2^16 less
// than a queue's depth behind would be taken for a new one.)
CHIME_DEVICE std::uint32_t ahead_of(const NicQueue& queue, std::uint64_t done,
                                    std::uint16_t counter) {
  const auto ahead = static_cast<std::uint16_t>(counter + 1u - static_cast<std::uint16_t>(done));
  return ahead <= queue.depth ? ahead : 0;
}

// Tells everybody in `word` what a CQE with `counter` says, when `done` was `seen`; returns what
// the word was. Release: what the poller has acquired with the CQE is there for who acquires the
// word.
CHIME_DEVICE std::uint64_t move_on(NicQueue& queue, std::uint64_t* word, std::uint64_t seen,
                                   std::uint16_t counter) {
  const std::uint32_t ahead = ahead_of(queue, seen, counter);
  if (ahead == 0) return 0;
  return exec::atomic_max<Order::kRelease, Scope::kDevice>(word, seen + ahead);
}

// `done` stands still from the first failure on; what ends later is told in `failed`.
CHIME_DEVICE void advance(NicQueue& queue, std::uint64_t seen, std::uint16_t counter) {
  const std::uint64_t before = move_on(queue, &queue.consumer.done, seen, counter);
  if ((before & abi::kNicStopped) != 0) move_on(queue, &queue.consumer.failed, seen, counter);
}

// What a valid CQE says.
CHIME_DEVICE void take_news(NicQueue& queue, const std::byte* cqe, std::uint32_t word,
                            std::uint64_t seen) {
  const abi::CqeTail tail = abi::cqe_tail(word);
  if (!abi::cqe_is_error(tail.opcode)) return advance(queue, seen, tail.counter);
  move_on(queue, &queue.consumer.failed, seen, tail.counter);
  stop_by_cqe(queue, cqe, word);
}

// Counter and opcode in one load.
template <Order kOrder>
CHIME_DEVICE std::uint32_t load_tail(const std::byte* cqe) {
  return exec::ld<kOrder, Scope::kSystem>(
      reinterpret_cast<const std::uint32_t*>(cqe + abi::kCqeTailWord));
}

CHIME_DEVICE bool is_news(const NicQueue& queue, const abi::CqeTail& tail, std::uint64_t seen) {
  if (tail.opcode == abi::CqeOpcode::kInvalid) return false;
  return abi::cqe_is_error(tail.opcode) || ahead_of(queue, seen, tail.counter) != 0;
}

CHIME_DEVICE void poll_collapsed(NicQueue& queue) {
  const std::uint64_t seen = end_of(load<Order::kRelaxed>(queue.consumer.done));
  if (!is_news(queue, abi::cqe_tail(load_tail<Order::kRelaxed>(queue.cq)), seen)) return;
  // Again, so that it is no older than `done`. Acquire: the NIC wrote data and results before it.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  take_news(queue, queue.cq, load_tail<Order::kAcquire>(queue.cq), seen);
}

CHIME_DEVICE void poll_ring(NicQueue& queue) {
  const std::uint64_t taken = load<Order::kRelaxed>(queue.consumer.cqes);
  const std::byte* const cqe = queue.cq + (taken & (queue.cqe_count - 1)) * abi::kCqeBytes;
  const std::uint32_t word = load_tail<Order::kRelaxed>(cqe);
  const abi::CqeTail tail = abi::cqe_tail(word);
  const bool owner = (taken & queue.cqe_count) != 0;
  if (tail.opcode == abi::CqeOpcode::kInvalid || tail.owner != owner) return;
  // Acquire: as above; and `done` is not far behind the CQE.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  const std::uint64_t seen = end_of(load<Order::kRelaxed>(queue.consumer.done));
  const bool is_mine = exec::atomic_cas<Order::kRelaxed, Scope::kDevice>(&queue.consumer.cqes,
                                                                         taken, taken + 1) == taken;
  if (is_mine) take_news(queue, cqe, word, seen);
}

}  // namespace detail

// Looks once whether something has completed.
CHIME_DEVICE void poll(NicQueue& queue) {
  if (queue.cq_mode == abi::NicCqMode::kCollapsed) {
    detail::poll_collapsed(queue);
  } else {
    detail::poll_ring(queue);
  }
}

// Polls until `done` has reached `target`. False if the queue is out of use. In line for loops over
// queues, whose own state would lie over the call.
CHIME_DEVICE bool poll_until_done(const Context& ctx, NicQueue& queue, std::uint64_t target) {
  std::uint64_t seen = 0;
  const auto is_there = [&] {
    seen = load<Order::kRelaxed>(queue.consumer.done);
    return reaches(seen, target);
  };
  const Wait wait = wait_for_word(ctx, queue, &queue.consumer.done, target);
  const bool is_done = wait_on_queue(ctx, queue, wait, seen, [&] {
    if (is_there()) return true;
    poll(queue);
    return is_there();
  });
  // Pairs with the release in move_on(), of whoever polled.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  return is_done;
}

CHIME_DEVICE_OUT_OF_LINE bool await_done(const Context& ctx, NicQueue& queue,
                                         std::uint64_t target) {
  return poll_until_done(ctx, queue, target);
}

// How far the NIC is through with the requests, however they ended. Pairs with the releases in
// move_on(): memory of a request below is not touched any more.
CHIME_DEVICE std::uint64_t through(const NicQueue& queue) {
  const std::uint64_t done = end_of(load<Order::kAcquire>(queue.consumer.done));
  const std::uint64_t failed = load<Order::kAcquire>(queue.consumer.failed);
  return done < failed ? failed : done;
}

// Waits for the end of a submission: sources may be reused, data of reads and results are here.
CHIME_DEVICE bool wait_for(const Context& ctx, Ticket ticket) {
  return ticket.ok() && await_done(ctx, *ticket.queue, ticket.target);
}

// Waits until everything that was handed in to the queue is complete.
CHIME_DEVICE bool drain(const Context& ctx, NicQueue& queue) {
  return poll_until_done(ctx, queue, target_of(load<Order::kAcquire>(queue.producer.ready)));
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_COMPLETE_CUH_
