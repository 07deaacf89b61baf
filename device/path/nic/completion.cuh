// Completions of a queue pair: every thread that waits looks for them, and publishes them by
// `done`.
//
// Loads in a loop are relaxed; a fence follows only when something was found.
#ifndef CHIME_DEVICE_PATH_NIC_COMPLETION_CUH_
#define CHIME_DEVICE_PATH_NIC_COMPLETION_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/words.h"
#include "chime/abi/wqe.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/progress.cuh"
#include "chime/device/channel/stop.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::nic {

using abi::Channel;
using channel::load;
using exec::Order;
using exec::Scope;

namespace detail {

CHIME_DEVICE std::uint32_t word_at(const std::byte* at) {
  return exec::ld<Order::kRelaxed, Scope::kSystem>(reinterpret_cast<const std::uint32_t*>(at));
}

// A poller found an error CQE with this tail. The CQE of a collapsed CQ may change during the read.
CHIME_DEVICE void stop_by_cqe(Channel& queue, const std::byte* cqe, std::uint32_t tail) {
  std::uint32_t syndrome, opcode;
  for (;;) {
    syndrome = word_at(cqe + abi::kCqeSyndromeWord);
    opcode = word_at(cqe + abi::kCqeOpcodeWord);
    exec::fence<Order::kAcquire, Scope::kSystem>();
    const std::uint32_t now = word_at(cqe + abi::kCqeTailWord);
    if (now == tail) break;
    tail = now;
  }
  const auto why = static_cast<std::uint32_t>(abi::cqe_syndrome(syndrome));
  if (!channel::claim_stop(queue, abi::status_word(abi::Stop::kError, why))) return;
  queue.progress.cause[0] = tail;
  queue.progress.cause[1] = syndrome;
  queue.progress.cause[2] = opcode;
  channel::publish_stop(queue);
}

// How far a CQE with `counter` is ahead of `done`, in units: 0 if it belongs to the last request
// that `done` counts; more than the queue's depth if it is older. (A CQE that lies 2^16 minus the
// depth behind would look new.)
CHIME_DEVICE std::uint32_t ahead_of(std::uint64_t done, std::uint16_t counter) {
  return static_cast<std::uint16_t>(counter + 1u - static_cast<std::uint32_t>(done));
}

CHIME_DEVICE std::uint64_t load_done(const Channel& queue) {
  return load<Order::kRelaxed>(queue.progress.done);
}

// Handles a CQE that does not report success.
CHIME_DEVICE std::uint64_t take_error(Channel& queue, const std::byte* cqe, std::uint32_t word,
                                      std::uint64_t end) {
  if (!abi::cqe_is_error(abi::cqe_tail(word).opcode)) return load_done(queue);
  channel::advance_failed(queue, end);
  stop_by_cqe(queue, cqe, word);
  return load_done(queue);
}

// Handles a CQE; returns the latest known value of `done`.
CHIME_DEVICE std::uint64_t take_completion(Channel& queue, const std::byte* cqe, std::uint32_t word,
                                           std::uint64_t done) {
  const abi::CqeTail tail = abi::cqe_tail(word);
  const std::uint32_t ahead = ahead_of(done, tail.counter);
  const bool is_new = ahead - 1 < queue.head.depth;
  const std::uint64_t end = channel::end_of(done) + (is_new ? ahead : 0);
  if (tail.opcode != abi::CqeOpcode::kRequest) return take_error(queue, cqe, word, end);
  return is_new ? channel::advance_to(queue, end) : done;
}

// Counter and opcode in one load.
template <Order kOrder>
CHIME_DEVICE std::uint32_t load_tail(const std::byte* cqe) {
  return exec::ld<kOrder, Scope::kSystem>(
      reinterpret_cast<const std::uint32_t*>(cqe + abi::kCqeTailWord));
}

// The one CQE is new if it belongs to another request than the last that `done` counts. This holds
// for an error CQE, too; the initial one belongs to the request before the first.
CHIME_DEVICE std::uint64_t poll_collapsed(Channel& queue, const std::byte* cqe,
                                          std::uint64_t done) {
  if (ahead_of(done, abi::cqe_tail(load_tail<Order::kRelaxed>(cqe)).counter) == 0) return done;
  // Loads it again, so that it is no older than `done`. Acquire: the NIC wrote data and results
  // before it.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  return take_completion(queue, cqe, load_tail<Order::kAcquire>(cqe), done);
}

CHIME_DEVICE std::uint64_t poll_ring(Channel& queue, const abi::NicCq& cq, std::uint64_t done) {
  const std::uint64_t taken = load<Order::kRelaxed>(queue.progress.taken);
  const std::byte* const cqe = cq.cqes + (taken & (cq.count - 1)) * abi::kCqeBytes;
  const std::uint32_t word = load_tail<Order::kRelaxed>(cqe);
  const abi::CqeTail tail = abi::cqe_tail(word);
  const bool owner = (taken & cq.count) != 0;
  if (tail.opcode == abi::CqeOpcode::kInvalid || tail.owner != owner) return done;
  // Acquire: as above; and `done` is not far behind the CQE.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  const std::uint64_t seen = load_done(queue);
  const bool is_mine = exec::atomic_cas<Order::kRelaxed, Scope::kDevice>(&queue.progress.taken,
                                                                         taken, taken + 1) == taken;
  return is_mine ? take_completion(queue, cqe, word, seen) : seen;
}

}  // namespace detail

// Looks once for a completion: ChannelTraits<kPath>::poll.
CHIME_DEVICE std::uint64_t poll(Channel& queue, std::uint64_t done) {
  const abi::NicCq& cq = queue.nic.cq;
  return cq.mode == abi::NicCqMode::kCollapsed ? detail::poll_collapsed(queue, cq.cqes, done)
                                               : detail::poll_ring(queue, cq, done);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_COMPLETION_CUH_
