// Memory that the NIC does not know: the stack, globals, `__shared__`. It goes through a slot of
// registered memory, in halves, one filled or emptied while the other is on its way.
//
// One thread moves the bytes, also of a warp or block. A slot whose request has failed is left to
// the NIC: who looks for a slot finds out when its queue is through with it.
#ifndef CHIME_DEVICE_PATH_NIC_STAGE_CUH_
#define CHIME_DEVICE_PATH_NIC_STAGE_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/nic.h"
#include "chime/device/copy.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/complete.cuh"
#include "chime/device/path/nic/error.cuh"
#include "chime/device/path/nic/queue.cuh"
#include "chime/device/path/nic/submit.cuh"
#include "chime/device/path/nic/transfer.cuh"
#include "chime/device/wait.cuh"

namespace chime::nic {
namespace detail {

inline constexpr std::uint32_t kNoSlot = ~0u;

CHIME_DEVICE bool is_through(Domain domain, std::uint64_t word) {
  NicQueue& queue = domain.nic.queues[abi::nic_queue_of_left_slot(word)];
  if (abi::nic_left_slot_is_free(word, through(queue))) return true;
  poll(domain, queue);  // nobody else polls a queue that is out of use
  return abi::nic_left_slot_is_free(word, through(queue));
}

CHIME_DEVICE bool try_take(Domain domain, std::uint64_t* busy) {
  const std::uint64_t word = exec::ld<Order::kRelaxed, Scope::kDevice>(busy);
  if (word == abi::kNicSlotTaken) return false;
  if (word != abi::kNicSlotFree && !is_through(domain, word)) return false;
  // Acquire: pairs with the release of give_back.
  return exec::atomic_cas<Order::kAcquire, Scope::kDevice>(busy, word, abi::kNicSlotTaken) == word;
}

CHIME_DEVICE std::uint64_t* times_taken(const abi::NicStaging& staging) {
  return staging.busy + staging.slots;
}

// One look at all slots, from a place that differs between threads.
CHIME_DEVICE std::uint32_t try_take_slot(Domain domain) {
  const abi::NicStaging& staging = domain.nic.staging;
  const auto start =
      exec::in_kernel() ? static_cast<std::uint32_t>(exec::grid_rank() % staging.slots) : 0;
  for (std::uint32_t i = 0; i < staging.slots; ++i) {
    const std::uint32_t slot = (start + i) % staging.slots;
    if (!try_take(domain, &staging.busy[slot])) continue;
    exec::atomic_add<Order::kRelaxed, Scope::kDevice>(times_taken(staging), std::uint64_t{1});
    return slot;
  }
  return kNoSlot;
}

// The threads that have a slot wait for their queues alone; no PE is to blame if they keep it.
// Slots go to whoever comes first, so that one of many threads may wait for long: the bound starts
// anew while slots change hands. kNoSlot: the queue is out of use, the job is aborted, or no slot
// came free in time.
CHIME_DEVICE std::uint32_t take_slot(Domain domain, const NicQueue& queue) {
  const abi::NicStaging& staging = domain.nic.staging;
  Wait wait = wait_for_word(domain, queue, staging.busy, abi::kNicSlotFree);
  wait.pe = -1;
  std::uint32_t slot = kNoSlot;
  const auto taken_so_far = [&] {
    return exec::ld<Order::kRelaxed, Scope::kDevice>(times_taken(staging));
  };
  std::uint64_t before = 0;
  WaitResult result;
  do {
    before = taken_so_far();
    result = spin_until(domain.ctx, wait, [&] {
      return (slot = try_take_slot(domain)) != kNoSlot || is_stopped(queue);
    });
  } while (result.status == CHIMEX_ERR_TIMEOUT && taken_so_far() != before &&
           !chime::detail::abort_is_raised(domain.ctx));
  if (!result.ok()) record_wait(domain.ctx, wait, result, staging.slots);
  return slot;
}

// `pending`: the target of the last request on the slot that may not have ended; 0 if there is
// none. Then the slot is free.
CHIME_DEVICE void give_back(Domain domain, std::uint32_t slot, const NicQueue& queue,
                            std::uint64_t pending) {
  const std::uint64_t word =
      pending == 0 ? abi::kNicSlotFree : abi::nic_left_slot(index_of(domain, queue), pending);
  exec::st<Order::kRelease, Scope::kDevice>(&domain.nic.staging.busy[slot], word);
}

// A slot in two halves.
struct Halves {
  std::byte* memory;
  std::uint64_t nic;
  std::size_t bytes;  // of each
  std::uint32_t lkey_be;

  CHIME_DEVICE std::byte* at(std::uint64_t chunk) const { return memory + chunk % 2 * bytes; }
  CHIME_DEVICE Local local(std::uint64_t chunk) const {
    return {nic + chunk % 2 * bytes, lkey_be, true};
  }
};
CHIME_DEVICE Halves halves_of(const abi::NicStaging& staging, std::uint32_t slot) {
  const std::uint64_t at = std::uint64_t{slot} * staging.slot_bytes;
  return {staging.memory + at, staging.nic + at, staging.slot_bytes / 2, staging.lkey_be};
}

CHIME_DEVICE std::size_t chunk_bytes(std::size_t total, std::uint64_t chunk, std::size_t each) {
  const std::size_t rest = total - chunk * each;
  return rest < each ? rest : each;
}

// Chunk c is filled when chunk c - 2, which had its half, has left. `last` is the target of the
// last request.
template <class Group>
CHIME_DEVICE bool write_chunks(Domain domain, Group group, NicQueue& queue, const Halves& halves,
                               const Remote& remote, const std::byte* src, std::size_t bytes,
                               std::uint64_t& last) {
  std::uint64_t before = 0;
  for (std::uint64_t chunk = 0; chunk * halves.bytes < bytes; ++chunk) {
    if (chunk >= 2 && !await_done(domain, queue, before)) return false;
    const std::size_t at = chunk * halves.bytes, part = chunk_bytes(bytes, chunk, halves.bytes);
    copy_to_peer(Thread{}, halves.at(chunk), src + at, part);
    const Ticket next = transfer(domain, group, queue, abi::WqeOpcode::kWrite, advanced(remote, at),
                                 halves.local(chunk), part);
    if (!next.ok()) return false;
    before = last;
    last = next.target;
  }
  return await_done(domain, queue, last);
}

// Chunk c + 1 is on its way while chunk c is emptied. `last` is as above.
template <class Group>
CHIME_DEVICE bool read_chunks(Domain domain, Group group, NicQueue& queue, const Halves& halves,
                              const Remote& remote, std::byte* dst, std::size_t bytes,
                              std::uint64_t& last) {
  const auto begin = [&](std::uint64_t chunk) {
    const Ticket read = transfer(domain, group, queue, abi::WqeOpcode::kRead,
                                 advanced(remote, chunk * halves.bytes), halves.local(chunk),
                                 chunk_bytes(bytes, chunk, halves.bytes));
    if (read.ok()) last = read.target;
    return read.ok();
  };
  bool is_on_its_way = begin(0);
  for (std::uint64_t chunk = 0; chunk * halves.bytes < bytes; ++chunk) {
    if (!is_on_its_way) return false;
    const std::uint64_t now = last;
    const bool is_last = (chunk + 1) * halves.bytes >= bytes;
    if (!is_last) is_on_its_way = begin(chunk + 1);
    if (!await_done(domain, queue, now)) return false;
    copy_from_peer(Thread{}, dst + chunk * halves.bytes, halves.at(chunk),
                   chunk_bytes(bytes, chunk, halves.bytes));
  }
  return true;
}

template <class Move>
CHIME_DEVICE bool with_slot(Domain domain, const NicQueue& queue, Move move) {
  if (is_stopped(queue)) return false;
  const std::uint32_t slot = take_slot(domain, queue);
  if (slot == kNoSlot) return false;
  const exec::Committed to_free_the_slot;
  std::uint64_t last = 0;
  const bool is_done = move(halves_of(domain.nic.staging, slot), last);
  give_back(domain, slot, queue, is_done ? 0 : last);
  return is_done;
}

}  // namespace detail

// Complete when they return; false if they failed.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool staged_write(Domain domain, Group group, NicQueue& queue,
                                           Remote remote, const std::byte* src, std::size_t bytes) {
  return detail::with_slot(domain, queue, [&](const detail::Halves& halves, std::uint64_t& last) {
    return detail::write_chunks(domain, group, queue, halves, remote, src, bytes, last);
  });
}

template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool staged_read(Domain domain, Group group, NicQueue& queue,
                                          Remote remote, std::byte* dst, std::size_t bytes) {
  return detail::with_slot(domain, queue, [&](const detail::Halves& halves, std::uint64_t& last) {
    return detail::read_chunks(domain, group, queue, halves, remote, dst, bytes, last);
  });
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_STAGE_CUH_
