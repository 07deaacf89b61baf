// The end of a queue. Who finds its failure takes it out of use and writes down why; whoever then
// leaves the queue first tells it, everybody else leaves after.
//
// Polls only stop: what tells is called by the outermost frame of an operation or wait, where
// nothing of it is needed any more. So it takes no registers from what succeeds.
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

// ---- Stopping -----------------------------------------------------------------------------------

// True for the one who takes the queue out of use: it then writes why, and publishes it.
CHIME_DEVICE bool claim_stop(NicQueue& queue, std::uint32_t status) {
  return exec::atomic_cas<Order::kRelaxed, Scope::kSystem>(&queue.consumer.status, 0u, status) == 0;
}
// Release: what stands behind `status` is whole. Pairs with the acquire in tell().
CHIME_DEVICE void publish_stop(NicQueue& queue) {
  exec::red_or<Order::kRelease, Scope::kSystem>(&queue.consumer.done, abi::kNicStopped);
}

CHIME_DEVICE void stop(NicQueue& queue, std::uint32_t status) {
  if (claim_stop(queue, status)) publish_stop(queue);
}

namespace detail {

CHIME_DEVICE std::uint32_t word_at(const std::byte* at) {
  return exec::ld<Order::kRelaxed, Scope::kSystem>(reinterpret_cast<const std::uint32_t*>(at));
}
CHIME_DEVICE std::uint64_t big_word_at(const std::byte* at) {
  return abi::be64(
      exec::ld<Order::kRelaxed, Scope::kSystem>(reinterpret_cast<const std::uint64_t*>(at)));
}

}  // namespace detail

// A poller found an error CQE with this tail. A collapsed one may change while it is read.
CHIME_DEVICE void stop_by_cqe(NicQueue& queue, const std::byte* cqe, std::uint32_t tail) {
  std::uint32_t syndrome, opcode;
  for (;;) {
    syndrome = detail::word_at(cqe + abi::kCqeSyndromeWord);
    opcode = detail::word_at(cqe + abi::kCqeOpcodeWord);
    exec::fence<Order::kAcquire, Scope::kSystem>();
    const std::uint32_t now = detail::word_at(cqe + abi::kCqeTailWord);
    if (now == tail) break;
    tail = now;
  }
  const auto why = static_cast<std::uint32_t>(abi::cqe_syndrome(syndrome));
  if (!claim_stop(queue, abi::nic_status(abi::NicStop::kError, why))) return;
  queue.consumer.cqe_tail = tail;
  queue.consumer.cqe_syndrome = syndrome;
  queue.consumer.cqe_opcode = opcode;
  publish_stop(queue);
}

// The calling thread ends a wait without its event, while others may wait for what it was to do.
CHIME_DEVICE void stop_by_wait(NicQueue& queue, const Wait& wait, const WaitResult& result,
                               std::uint64_t seen) {
  if (!claim_stop(queue, abi::nic_status(abi::NicStop::kGaveUp))) return;
  queue.consumer.wait = {reinterpret_cast<std::uint64_t>(wait.address),
                         wait.expected,
                         seen,
                         result.waited_ns,
                         result.status,
                         result.pe};
  publish_stop(queue);
}

// ---- Telling ------------------------------------------------------------------------------------

namespace detail {

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

// Whom a failed request concerns at the peer: itself, or the read before it that it is to flush. A
// DUMP names nothing there. The ring still holds it.
CHIME_DEVICE const std::byte* request_with_remote(const NicQueue& queue, std::uint16_t index,
                                                  abi::WqeOpcode opcode) {
  const bool flushes = opcode == abi::WqeOpcode::kDump;
  return queue.sq + ((index - (flushes ? 1u : 0u)) & (queue.depth - 1u)) * abi::kWqebbBytes;
}

CHIME_DEVICE const abi::NicContext& context_of(const Context& ctx, const NicQueue& queue) {
  return queue.context == ctx.nic.id ? ctx.nic : ctx.host_nic;
}

// Fills in what the failed CQE and the request that it is about say.
CHIME_DEVICE void describe_cqe(const NicQueue& queue, abi::NicFault& fault) {
  const abi::NicConsumer& found = queue.consumer;
  const auto syndrome = abi::cqe_syndrome(found.cqe_syndrome);
  const auto opcode = abi::cqe_wqe_opcode(found.cqe_opcode);
  fault.opcode = static_cast<std::uint8_t>(opcode);
  fault.syndrome = static_cast<std::uint8_t>(syndrome);
  fault.vendor_error = abi::cqe_vendor_error(found.cqe_syndrome);
  fault.first_lost =
      syndrome == abi::CqeSyndrome::kFlushed && queue.cq_mode == abi::NicCqMode::kCollapsed;
  fault.wqe_index = abi::cqe_tail(found.cqe_tail).counter;
  const std::byte* const wqe = request_with_remote(queue, fault.wqe_index, opcode);
  fault.bytes = bytes_of(wqe, opcode);
  fault.remote_address = big_word_at(wqe + abi::kSegmentBytes);
}

CHIME_DEVICE void write_fault(const Context& ctx, const NicQueue& queue, std::uint32_t status) {
  abi::NicFault& fault = *queue.fault;
  const abi::NicContext& context = context_of(ctx, queue);
  fault.status = status;
  fault.pe = queue.pe;
  fault.context = queue.context;
  fault.slot = queue.index % context.slots;
  fault.qpn = abi::be32(queue.qpn_be) >> 8;
  fault.time_ns = exec::clock_ns();
  if (abi::nic_stop(status) == abi::NicStop::kError) describe_cqe(queue, fault);
  // Publishes the fields: pairs with the acquire of the host's reader.
  exec::st<Order::kRelease, Scope::kSystem>(&fault.published, abi::kNicFaultWhole);
  // Release: for waits, which read the fault (watch.cuh).
  exec::atomic_cas<Order::kRelease, Scope::kSystem>(&context.watch->lost, std::uint64_t{0},
                                                    std::uint64_t{queue.index} + 1);
}

CHIME_DEVICE void record_cqe(const Context& ctx, const NicQueue& queue) {
  const abi::NicFault& fault = *queue.fault;
  const std::uint64_t offset = fault.remote_address - context_of(ctx, queue).peers[queue.pe].heap;
  record(ctx, {.status = CHIMEX_ERR_NETWORK,
               .operation = Operation::kNone,
               .pe = queue.pe,
               .address = ctx.heap + offset,  // the heap's address here of what it names there
               .expected = fault.bytes});
}

CHIME_DEVICE void record_given_up(const Context& ctx, const NicQueue& queue) {
  const abi::NicGivenUp& wait = queue.consumer.wait;
  record(ctx, {.status = wait.status,
               .operation = Operation::kNone,
               .pe = wait.pe,
               .fault = Fault::kWait,
               .address = reinterpret_cast<const void*>(wait.address),
               .expected = wait.expected,
               .seen = wait.seen,
               .waited_ns = wait.waited_ns});
}

// Waits for the one who tells why the queue was stopped. What is recorded after has that before it,
// and the host that reads it finds the queue among those that failed (host/nic_fault.cpp).
CHIME_DEVICE void await_told(const Context& ctx, const NicQueue& queue) {
  const std::uint32_t* const published = &queue.fault->published;
  const Wait wait = {.operation = Operation::kNone,
                     .address = published,
                     .expected = abi::kNicFaultTold,
                     .pe = queue.pe,
                     .timeout_ns = ctx.wait_timeout_ns};
  // Acquire: pairs with the last store of tell().
  spin_until(ctx, wait, [&] {
    return exec::ld<Order::kAcquire, Scope::kSystem>(published) == abi::kNicFaultTold;
  });
}

}  // namespace detail

// REQUIRES: is_stopped(queue). Tells why, if nobody has: the fault is there, then recorded, then
// marked as told. By then it is told, whoever did it. A queue that the host closed has no fault.
CHIME_DEVICE_OUT_OF_LINE void tell(const Context& ctx, NicQueue& queue) {
  // Acquire: pairs with publish_stop.
  load<Order::kAcquire>(queue.consumer.done);
  const std::uint32_t status = exec::ld<Order::kRelaxed, Scope::kSystem>(&queue.consumer.status);
  const abi::NicStop why = abi::nic_stop(status);
  if (why != abi::NicStop::kError && why != abi::NicStop::kGaveUp) return;
  std::uint32_t* const published = &queue.fault->published;
  if (exec::atomic_cas<Order::kRelaxed, Scope::kSystem>(published, 0u, abi::kNicFaultClaimed) !=
      0) {
    return detail::await_told(ctx, queue);
  }
  detail::write_fault(ctx, queue, status);
  if (why == abi::NicStop::kError) {
    detail::record_cqe(ctx, queue);
  } else {
    detail::record_given_up(ctx, queue);
  }
  exec::st<Order::kRelease, Scope::kSystem>(published, abi::kNicFaultTold);
}

// Leaves an operation that failed: its queue is out of use, or it got no staging slot, which is
// recorded. If why was told and reported, and the record is free again, this operation is the next
// to fail.
CHIME_DEVICE_OUT_OF_LINE void leave_queue(const Context& ctx, NicQueue& queue) {
  if (is_stopped(queue)) tell(ctx, queue);
  record(ctx, {.status = CHIMEX_ERR_NETWORK,
               .operation = Operation::kNone,
               .pe = queue.pe,
               .address = nullptr});
  leave(ctx);
}

// ---- Waits on a queue ---------------------------------------------------------------------------

// What is waited for: that a word of the queue reaches `expected`.
CHIME_DEVICE Wait wait_for_word(const Context& ctx, const NicQueue& queue, const void* word,
                                std::uint64_t expected) {
  return {.operation = Operation::kNone,
          .address = word,
          .expected = expected,
          .pe = queue.pe,
          .timeout_ns = ctx.wait_timeout_ns};
}

// Spins until `event()` or the queue is stopped. False if it is left: it was stopped, or it is now.
template <class Event>
CHIME_DEVICE bool wait_on_queue(const Context& ctx, NicQueue& queue, const Wait& wait,
                                const std::uint64_t& seen, Event event) {
  bool happened = false;
  const WaitResult result =
      spin_until(ctx, wait, [&] { return (happened = event()) || is_stopped(queue); });
  if (!result.ok()) stop_by_wait(queue, wait, result, seen);
  return happened;
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_ERROR_CUH_
