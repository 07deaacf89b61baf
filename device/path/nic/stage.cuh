// Memory that the NIC does not know: the stack, globals, `__shared__`. It goes through a slot of
// registered memory, in halves, one filled or emptied while the other is on its way.
//
// One thread moves the bytes, also of a warp or block. A slot whose request was given up stays
// taken: the NIC may still use it.
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

namespace chime::nic {
namespace detail {

inline constexpr std::uint32_t kNoSlot = ~0u;

// One look at all slots, from a place that differs between threads.
CHIME_DEVICE std::uint32_t try_take_slot(const abi::NicStaging& staging) {
  const auto start =
      exec::in_kernel() ? static_cast<std::uint32_t>(exec::grid_rank() % staging.slots) : 0;
  for (std::uint32_t i = 0; i < staging.slots; ++i) {
    const std::uint32_t slot = (start + i) % staging.slots;
    // Acquire: pairs with the release of free_slot.
    if (exec::ld<Order::kRelaxed, Scope::kDevice>(&staging.busy[slot]) == 0 &&
        exec::atomic_cas<Order::kAcquire, Scope::kDevice>(&staging.busy[slot], 0, 1) == 0) {
      return slot;
    }
  }
  return kNoSlot;
}

// The threads that have a slot wait for their queues alone. kNoSlot: the job is aborted, or no slot
// came free in time.
CHIME_DEVICE std::uint32_t take_slot(Domain domain, const NicQueue& queue) {
  const abi::NicStaging& staging = domain.nic.staging;
  const Wait wait = wait_for_word(domain, queue, staging.busy, 0);
  std::uint32_t slot = kNoSlot;
  const WaitResult result =
      spin_until(domain.ctx, wait, [&] { return (slot = try_take_slot(staging)) != kNoSlot; });
  if (!result.ok()) record_wait(domain.ctx, wait, result, staging.slots);
  return slot;
}

CHIME_DEVICE void free_slot(const abi::NicStaging& staging, std::uint32_t slot) {
  exec::st<Order::kRelease, Scope::kDevice>(&staging.busy[slot], 0u);
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

// Chunk c is filled when chunk c - 2, which had its half, has left.
template <class Group>
CHIME_DEVICE bool write_chunks(Domain domain, Group group, NicQueue& queue, const Halves& halves,
                               const Remote& remote, const std::byte* src, std::size_t bytes) {
  Ticket before, last;
  for (std::uint64_t chunk = 0; chunk * halves.bytes < bytes; ++chunk) {
    if (chunk >= 2 && !wait_for(domain, before)) return false;
    before = last;
    const std::size_t at = chunk * halves.bytes, part = chunk_bytes(bytes, chunk, halves.bytes);
    copy_to_peer(Thread{}, halves.at(chunk), src + at, part);
    last = transfer(domain, group, queue, abi::WqeOpcode::kWrite, advanced(remote, at),
                    halves.local(chunk), part);
    if (!last.ok()) return false;
  }
  return wait_for(domain, last);
}

// Chunk c + 1 is on its way while chunk c is emptied.
template <class Group>
CHIME_DEVICE bool read_chunks(Domain domain, Group group, NicQueue& queue, const Halves& halves,
                              const Remote& remote, std::byte* dst, std::size_t bytes) {
  const auto begin = [&](std::uint64_t chunk) {
    return transfer(domain, group, queue, abi::WqeOpcode::kRead,
                    advanced(remote, chunk * halves.bytes), halves.local(chunk),
                    chunk_bytes(bytes, chunk, halves.bytes));
  };
  Ticket now = begin(0);
  for (std::uint64_t chunk = 0; chunk * halves.bytes < bytes; ++chunk) {
    Ticket next = {};
    const bool is_last = (chunk + 1) * halves.bytes >= bytes;
    if (!is_last) next = begin(chunk + 1);
    if (!wait_for(domain, now)) return false;
    copy_from_peer(Thread{}, dst + chunk * halves.bytes, halves.at(chunk),
                   chunk_bytes(bytes, chunk, halves.bytes));
    now = next;
  }
  return true;
}

template <class Move>
CHIME_DEVICE bool with_slot(Domain domain, const NicQueue& queue, Move move) {
  if (is_stopped(queue)) return false;
  const std::uint32_t slot = take_slot(domain, queue);
  if (slot == kNoSlot) return false;
  const bool is_done = move(halves_of(domain.nic.staging, slot));
  if (is_done) free_slot(domain.nic.staging, slot);
  return is_done;
}

}  // namespace detail

// Complete when they return; false if they failed.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool staged_write(Domain domain, Group group, NicQueue& queue,
                                           Remote remote, const std::byte* src, std::size_t bytes) {
  return detail::with_slot(domain, queue, [&](const detail::Halves& halves) {
    return detail::write_chunks(domain, group, queue, halves, remote, src, bytes);
  });
}

template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool staged_read(Domain domain, Group group, NicQueue& queue,
                                          Remote remote, std::byte* dst, std::size_t bytes) {
  return detail::with_slot(domain, queue, [&](const detail::Halves& halves) {
    return detail::read_chunks(domain, group, queue, halves, remote, dst, bytes);
  });
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_STAGE_CUH_
