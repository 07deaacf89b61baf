// Completions: polled by whoever waits, told to all by `done`.
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

// Tells everybody in `word` what a CQE with `counter` says, when `done` was `seen`. Release: what
// the poller has acquired with the CQE is there for who loads the word.
CHIME_DEVICE void move_on(NicQueue& queue, std::uint64_t* word, std::uint64_t seen,
                          std::uint16_t counter) {
  const auto ahead = static_cast<std::uint16_t>(counter + 1u - static_cast<std::uint16_t>(seen));
  if (ahead == 0 || ahead > queue.depth) return;  // old news
  if (is_gpu_wide(queue)) {
    exec::atomic_max<Order::kRelease, Scope::kDevice>(word, seen + ahead);
  } else {
    exec::atomic_max<Order::kRelease, Scope::kBlock>(word, seen + ahead);
  }
}

CHIME_DEVICE void advance(NicQueue& queue, std::uint64_t seen, std::uint16_t counter) {
  move_on(queue, &queue.consumer.done, seen, counter);
}

// What a valid CQE says. `done` stands still from the first failure on.
CHIME_DEVICE void take_news(Domain domain, NicQueue& queue, const std::byte* cqe,
                            const abi::CqeTail& tail, std::uint64_t seen) {
  if (!abi::cqe_is_error(tail.opcode)) return advance(queue, seen, tail.counter);
  move_on(queue, &queue.consumer.failed, seen, tail.counter);
  stop_by_cqe(domain, queue, cqe);  // last: nothing stays in registers over it
}

// Acquire: the NIC wrote data and results before the CQE. Counter and opcode in one load.
CHIME_DEVICE std::uint32_t load_tail(const std::byte* cqe) {
  return exec::ld<Order::kAcquire, Scope::kSystem>(
      reinterpret_cast<const std::uint32_t*>(cqe + abi::kCqeTailWord));
}

CHIME_DEVICE void poll_collapsed(Domain domain, NicQueue& queue) {
  // First, so that the CQE is not older than it; acquire keeps them in this order.
  const std::uint64_t seen = load<Order::kAcquire>(queue, queue.consumer.done);
  const abi::CqeTail tail = abi::cqe_tail(load_tail(queue.cq));
  if (tail.opcode != abi::CqeOpcode::kInvalid) take_news(domain, queue, queue.cq, tail, seen);
}

CHIME_DEVICE bool take_cqe(NicQueue& queue, std::uint64_t taken) {
  std::uint64_t* const cqes = &queue.consumer.cqes;
  return is_gpu_wide(queue)
             ? exec::atomic_cas<Order::kAcqRel, Scope::kDevice>(cqes, taken, taken + 1) == taken
             : exec::atomic_cas<Order::kAcqRel, Scope::kBlock>(cqes, taken, taken + 1) == taken;
}

CHIME_DEVICE void poll_ring(Domain domain, NicQueue& queue) {
  const std::uint64_t taken = load<Order::kAcquire>(queue, queue.consumer.cqes);
  const std::byte* const cqe = queue.cq + (taken & (queue.cqe_count - 1)) * abi::kCqeBytes;
  const abi::CqeTail tail = abi::cqe_tail(load_tail(cqe));
  const bool owner = (taken & queue.cqe_count) != 0;
  if (tail.opcode == abi::CqeOpcode::kInvalid || tail.owner != owner) return;
  // After the CQE, so that it is not far behind it.
  const std::uint64_t seen = load<Order::kAcquire>(queue, queue.consumer.done);
  if (take_cqe(queue, taken)) take_news(domain, queue, cqe, tail, seen);
}

}  // namespace detail

// Looks once whether something has completed.
CHIME_DEVICE_OUT_OF_LINE void poll(Domain domain, NicQueue& queue) {
  if (queue.cq_mode == abi::NicCqMode::kCollapsed) {
    detail::poll_collapsed(domain, queue);
  } else {
    detail::poll_ring(domain, queue);
  }
}

// Polls until `done` has reached `target`. False if the queue is out of use.
CHIME_DEVICE_OUT_OF_LINE bool await_done(Domain domain, NicQueue& queue, std::uint64_t target) {
  std::uint64_t seen = 0;
  const Wait wait = wait_for_word(domain, queue, &queue.consumer.done, target);
  return wait_on_queue(domain, queue, wait, seen, [&] {
    poll(domain, queue);
    // Pairs with the release in advance(), of whoever polled.
    seen = load<Order::kAcquire>(queue, queue.consumer.done);
    return seen >= target;
  });
}

// How far the NIC is through with the requests, however they ended. Pairs with the releases in
// move_on(): memory of a request below is not touched any more.
CHIME_DEVICE std::uint64_t through(const NicQueue& queue) {
  const std::uint64_t done = load<Order::kAcquire>(queue, queue.consumer.done);
  const std::uint64_t failed = load<Order::kAcquire>(queue, queue.consumer.failed);
  return done < failed ? failed : done;
}

// Waits for the end of a submission: sources may be reused, data of reads and results are here.
CHIME_DEVICE bool wait_for(Domain domain, Ticket ticket) {
  return ticket.ok() && await_done(domain, *ticket.queue, ticket.target);
}

// Waits until everything that was handed in to the queue is complete.
CHIME_DEVICE bool drain(Domain domain, NicQueue& queue) {
  return await_done(domain, queue, target_of(load<Order::kAcquire>(queue, queue.producer.ready)));
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_COMPLETE_CUH_
