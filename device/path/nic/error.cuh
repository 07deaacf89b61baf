// The end of a queue: who finds its failure says so once, everybody else leaves.
//
// Nothing here is in the way of an operation that succeeds; all of it is out of line.
#ifndef CHIME_DEVICE_PATH_NIC_ERROR_CUH_
#define CHIME_DEVICE_PATH_NIC_ERROR_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/nic.h"
#include "chime/abi/wqe.h"
#include "chime/device/exec.cuh"
#include "chime/device/fail.cuh"
#include "chime/device/path/nic/queue.cuh"
#include "chime/device/wait.cuh"

namespace chime::nic {

// Takes the queue out of use. True for the one who did; only he writes the queue's NicFault.
// Pairs with the loads of `status` in every wait, which need no more than the word.
CHIME_DEVICE bool stop(NicQueue& queue, std::uint32_t status) {
  return exec::atomic_cas<Order::kAcqRel, Scope::kSystem>(&queue.consumer.status, 0u, status) == 0;
}

namespace detail {

CHIME_DEVICE std::uint32_t word_at(const std::byte* at) {
  return exec::ld<Order::kRelaxed, Scope::kSystem>(reinterpret_cast<const std::uint32_t*>(at));
}
CHIME_DEVICE std::uint64_t big_word_at(const std::byte* at) {
  return abi::be64(
      exec::ld<Order::kRelaxed, Scope::kSystem>(reinterpret_cast<const std::uint64_t*>(at)));
}

// What a CQE says of a failure. A collapsed one may change while it is read.
struct FailedRequest {
  std::uint32_t tail, syndrome, opcode;
};
CHIME_DEVICE FailedRequest read_failure(const std::byte* cqe) {
  FailedRequest failed = {word_at(cqe + abi::kCqeTailWord), 0, 0};
  for (;;) {
    failed.syndrome = word_at(cqe + abi::kCqeSyndromeWord);
    failed.opcode = word_at(cqe + abi::kCqeOpcodeWord);
    exec::fence<Order::kAcqRel, Scope::kSystem>();
    const std::uint32_t tail = word_at(cqe + abi::kCqeTailWord);
    if (tail == failed.tail) return failed;
    failed.tail = tail;
  }
}

// Length of a request that is still in the ring; of a DUMP's read, for kDump.
CHIME_DEVICE std::uint64_t bytes_of(const std::byte* wqe, abi::WqeOpcode opcode) {
  constexpr unsigned kAtomic8Opmod = static_cast<unsigned>(abi::AtomicSize::k4);
  switch (opcode) {
    case abi::WqeOpcode::kCompareSwap:
    case abi::WqeOpcode::kFetchAdd:
      return 8;
    case abi::WqeOpcode::kMaskedCompareSwap:
    case abi::WqeOpcode::kMaskedFetchAdd:
      return (word_at(wqe) & 0xff) == kAtomic8Opmod ? 4 : 8;
    case abi::WqeOpcode::kNop:
      return 0;
    default:
      return abi::be32(word_at(wqe + 2 * abi::kSegmentBytes)) & 0x7fffffffu;
  }
}

CHIME_DEVICE void publish_fault(Domain domain, const NicQueue& queue, abi::NicFault& fault) {
  abi::NicFault& place = domain.nic.faults[index_of(domain, queue)];
  fault.pe = queue.pe;
  fault.context = domain.nic.id;
  fault.slot = static_cast<std::uint32_t>(index_of(domain, queue) % domain.nic.slots);
  fault.qpn = abi::be32(queue.qpn_be) >> 8;
  fault.time_ns = exec::clock_ns();
  // All but `published`, at which others may look now.
  memcpy(&place.status, &fault.status, sizeof(fault) - offsetof(abi::NicFault, status));
  // Publishes the fields: pairs with the acquire of the host's reader.
  exec::st<Order::kRelease, Scope::kSystem>(&place.published, abi::kNicFaultWhole);
  // Release: for waits, which read `place` (watch.cuh).
  exec::atomic_cas<Order::kAcqRel, Scope::kSystem>(&domain.nic.watch->lost, std::uint64_t{0},
                                                   index_of(domain, queue) + 1);
}

// By the one who has published it, when it is recorded. Pairs with await_told.
CHIME_DEVICE void say_told(Domain domain, const NicQueue& queue) {
  exec::st<Order::kRelease, Scope::kSystem>(&domain.nic.faults[index_of(domain, queue)].published,
                                            abi::kNicFaultTold);
}

// The request with a 16-bit index that the ring still holds.
CHIME_DEVICE const std::byte* request_at(const NicQueue& queue, std::uint16_t index) {
  return queue.sq + (index & (queue.depth - 1)) * abi::kWqebbBytes;
}

// Whom a failed request concerns at the peer: itself, or the read before it that it is to flush. A
// DUMP names nothing there.
CHIME_DEVICE const std::byte* request_with_remote(const NicQueue& queue, std::uint16_t index,
                                                  abi::WqeOpcode opcode) {
  const bool flushes = opcode == abi::WqeOpcode::kDump;
  return request_at(queue, static_cast<std::uint16_t>(flushes ? index - 1 : index));
}

// The heap's address here of what a request names at a peer.
CHIME_DEVICE const void* symmetric_address(Domain domain, int pe, std::uint64_t remote) {
  return domain.ctx.heap + (remote - domain.nic.peers[pe].heap);
}

}  // namespace detail

// A poller found an error CQE.
CHIME_DEVICE_OUT_OF_LINE void stop_by_cqe(Domain domain, NicQueue& queue, const std::byte* cqe) {
  const detail::FailedRequest failed = detail::read_failure(cqe);
  const auto syndrome = abi::cqe_syndrome(failed.syndrome);
  const std::uint32_t status =
      abi::nic_status(abi::NicStop::kError, static_cast<std::uint32_t>(syndrome));
  if (!stop(queue, status)) return;
  const std::uint16_t index = abi::cqe_tail(failed.tail).counter;
  const abi::WqeOpcode opcode = abi::cqe_wqe_opcode(failed.opcode);
  const std::byte* const wqe = detail::request_with_remote(queue, index, opcode);
  abi::NicFault fault = {};
  fault.status = status;
  fault.opcode = static_cast<std::uint8_t>(opcode);
  fault.syndrome = static_cast<std::uint8_t>(syndrome);
  fault.vendor_error = abi::cqe_vendor_error(failed.syndrome);
  fault.first_lost =
      syndrome == abi::CqeSyndrome::kFlushed && queue.cq_mode == abi::NicCqMode::kCollapsed;
  fault.wqe_index = index;
  fault.bytes = detail::bytes_of(wqe, opcode);
  fault.remote_address = detail::big_word_at(wqe + abi::kSegmentBytes);
  detail::publish_fault(domain, queue, fault);
  record(domain.ctx, {.status = CHIMEX_ERR_NETWORK,
                      .operation = Operation::kNone,
                      .pe = queue.pe,
                      .address = detail::symmetric_address(domain, queue.pe, fault.remote_address),
                      .expected = fault.bytes});
  detail::say_told(domain, queue);
}

// The calling thread ends a wait without its event, while others may wait for what it was to do.
CHIME_DEVICE_OUT_OF_LINE void give_up(Domain domain, NicQueue& queue, const Wait& wait,
                                      const WaitResult& result, std::uint64_t seen) {
  const std::uint32_t status = abi::nic_status(abi::NicStop::kGaveUp);
  if (!stop(queue, status)) return;  // who did has a reason of his own
  abi::NicFault fault = {};
  fault.status = status;
  detail::publish_fault(domain, queue, fault);
  record_wait(domain.ctx, wait, result, seen);
  detail::say_told(domain, queue);
}

// Spins until `event()` or the queue is stopped. False if it is left: it was stopped, or it is now.
template <class Event>
CHIME_DEVICE bool wait_on_queue(Domain domain, NicQueue& queue, const Wait& wait,
                                const std::uint64_t& seen, Event event) {
  bool happened = false;
  const WaitResult result =
      spin_until(domain.ctx, wait, [&] { return (happened = event()) || is_stopped(queue); });
  if (result.ok()) return happened;
  give_up(domain, queue, wait, result, seen);
  return false;
}

// What is waited for: that a word of the queue reaches `expected`.
CHIME_DEVICE Wait wait_for_word(Domain domain, const NicQueue& queue, const void* word,
                                std::uint64_t expected) {
  return {.operation = Operation::kNone,
          .address = word,
          .expected = expected,
          .pe = queue.pe,
          .timeout_ns = domain.ctx.wait_timeout_ns};
}

// Waits for the one who has stopped the queue. What is recorded after has his reason before it, and
// the host that reads it finds the queue among those that failed (host/nic_fault.cpp).
CHIME_DEVICE void await_told(Domain domain, const NicQueue& queue) {
  // Else the operation failed for want of a staging slot, or the host closed the queue: no fault.
  const abi::NicStop why = abi::nic_stop(status_of(queue));
  if (why != abi::NicStop::kError && why != abi::NicStop::kGaveUp) return;
  const std::uint32_t* const published = &domain.nic.faults[index_of(domain, queue)].published;
  spin_until(domain.ctx, wait_for_word(domain, queue, published, abi::kNicFaultTold), [&] {
    // Acquire: pairs with say_told.
    return exec::ld<Order::kAcquire, Scope::kSystem>(published) == abi::kNicFaultTold;
  });
}

// Leaves an operation on a queue that is out of use. Who stopped it has recorded why; if that was
// reported and the record is free again, this operation is the next to fail.
CHIME_DEVICE_OUT_OF_LINE void leave_queue(Domain domain, const NicQueue& queue) {
  await_told(domain, queue);
  record(domain.ctx, {.status = CHIMEX_ERR_NETWORK,
                      .operation = Operation::kNone,
                      .pe = queue.pe,
                      .address = nullptr});
  leave(domain.ctx);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_ERROR_CUH_
