// Completions of a queue pair: looked for by whoever waits, told to all by `done`.
//
// Loads in a loop are relaxed; a fence stands behind what was found, and only there.
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
#include "chime/device/exec.cuh"

namespace chime::nic {

using abi::Channel;
using channel::load;
using exec::Order;
using exec::Scope;

namespace detail {

CHIME_DEVICE std::uint32_t word_at(const std::byte* at) {
  return exec::ld<Order::kRelaxed, Scope::kSystem>(reinterpret_cast<const std::uint32_t*>(at));
}

// A poller found an error CQE with this tail. A collapsed one may change while it is read.
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

// How far a CQE with `counter` is ahead of `done`; 0: it is old news. (An old one that is 2^16 less
// than a queue's depth behind would be taken for a new one.)
CHIME_DEVICE std::uint32_t ahead_of(const Channel& queue, std::uint64_t done,
                                    std::uint16_t counter) {
  const auto ahead = static_cast<std::uint16_t>(counter + 1u - static_cast<std::uint16_t>(done));
  return ahead <= queue.head.depth ? ahead : 0;
}

// What a valid CQE says.
CHIME_DEVICE void take_news(Channel& queue, const std::byte* cqe, std::uint32_t word,
                            std::uint64_t seen) {
  const abi::CqeTail tail = abi::cqe_tail(word);
  const std::uint32_t ahead = ahead_of(queue, seen, tail.counter);
  if (!abi::cqe_is_error(tail.opcode)) return channel::advance(queue, seen, ahead);
  channel::advance_failed(queue, seen, ahead);
  stop_by_cqe(queue, cqe, word);
}

// Counter and opcode in one load.
template <Order kOrder>
CHIME_DEVICE std::uint32_t load_tail(const std::byte* cqe) {
  return exec::ld<kOrder, Scope::kSystem>(
      reinterpret_cast<const std::uint32_t*>(cqe + abi::kCqeTailWord));
}

CHIME_DEVICE bool is_news(const Channel& queue, const abi::CqeTail& tail, std::uint64_t seen) {
  if (tail.opcode == abi::CqeOpcode::kInvalid) return false;
  return abi::cqe_is_error(tail.opcode) || ahead_of(queue, seen, tail.counter) != 0;
}

CHIME_DEVICE void poll_collapsed(Channel& queue) {
  const std::byte* const cqe = queue.nic.cq;
  const std::uint64_t seen = channel::end_of(load<Order::kRelaxed>(queue.progress.done));
  if (!is_news(queue, abi::cqe_tail(load_tail<Order::kRelaxed>(cqe)), seen)) return;
  // Again, so that it is no older than `done`. Acquire: the NIC wrote data and results before it.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  take_news(queue, cqe, load_tail<Order::kAcquire>(cqe), seen);
}

CHIME_DEVICE void poll_ring(Channel& queue) {
  const std::uint64_t taken = load<Order::kRelaxed>(queue.progress.taken);
  const std::uint32_t cqes = queue.nic.cqe_count;
  const std::byte* const cqe = queue.nic.cq + (taken & (cqes - 1)) * abi::kCqeBytes;
  const std::uint32_t word = load_tail<Order::kRelaxed>(cqe);
  const abi::CqeTail tail = abi::cqe_tail(word);
  const bool owner = (taken & cqes) != 0;
  if (tail.opcode == abi::CqeOpcode::kInvalid || tail.owner != owner) return;
  // Acquire: as above; and `done` is not far behind the CQE.
  exec::fence<Order::kAcquire, Scope::kSystem>();
  const std::uint64_t seen = channel::end_of(load<Order::kRelaxed>(queue.progress.done));
  const bool is_mine = exec::atomic_cas<Order::kRelaxed, Scope::kDevice>(&queue.progress.taken,
                                                                         taken, taken + 1) == taken;
  if (is_mine) take_news(queue, cqe, word, seen);
}

}  // namespace detail

// Looks once whether something has completed.
CHIME_DEVICE void poll(Channel& queue) {
  if (queue.nic.cq_mode == abi::NicCqMode::kCollapsed) {
    detail::poll_collapsed(queue);
  } else {
    detail::poll_ring(queue);
  }
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_COMPLETION_CUH_
