// Memory that the NIC does not know: the stack, globals, `__shared__`. It goes through a slot of
// registered memory, in halves, one filled or emptied while the other is on its way.
//
// One thread moves the bytes, also of a warp or block. A slot whose request has failed is left to
// the NIC: who looks for a slot finds out when its queue is through with it.
#ifndef CHIME_DEVICE_PATH_NIC_STAGE_CUH_
#define CHIME_DEVICE_PATH_NIC_STAGE_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/channel.h"
#include "chime/abi/words.h"
#include "chime/device/channel/progress.cuh"
#include "chime/device/channel/stop.cuh"
#include "chime/device/copy.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/transfer.cuh"
#include "chime/device/route.cuh"
#include "chime/device/wait.cuh"

namespace chime::nic {
namespace detail {

inline constexpr std::uint32_t kNoSlot = ~0u;

CHIME_DEVICE bool is_through(const Context& ctx, std::uint64_t word) {
  Channel& queue = ctx.channels.pool.channels[abi::nic_channel_of_left_slot(word)];
  if (abi::nic_left_slot_is_free(word, channel::through(queue))) return true;
  poll(queue);  // nobody else polls a queue that is out of use
  return abi::nic_left_slot_is_free(word, channel::through(queue));
}

CHIME_DEVICE bool try_take(const Context& ctx, std::uint64_t* busy) {
  const std::uint64_t word = exec::ld<Order::kRelaxed, Scope::kDevice>(busy);
  if (word == abi::kNicSlotTaken) return false;
  if (word != abi::kNicSlotFree && !is_through(ctx, word)) return false;
  // Acquire: pairs with the release of give_back.
  return exec::atomic_cas<Order::kAcquire, Scope::kDevice>(busy, word, abi::kNicSlotTaken) == word;
}

CHIME_DEVICE std::uint64_t* times_taken(const abi::NicStaging& staging) {
  return staging.busy + staging.slots;
}

// One look at all slots, from a place that differs between threads.
CHIME_DEVICE std::uint32_t try_take_slot(const Context& ctx) {
  const abi::NicStaging& staging = ctx.nic.staging;
  const auto start =
      exec::in_kernel() ? static_cast<std::uint32_t>(exec::grid_rank() % staging.slots) : 0;
  for (std::uint32_t i = 0; i < staging.slots; ++i) {
    const std::uint32_t slot = (start + i) % staging.slots;
    if (!try_take(ctx, &staging.busy[slot])) continue;
    exec::atomic_add<Order::kRelaxed, Scope::kDevice>(times_taken(staging), std::uint64_t{1});
    return slot;
  }
  return kNoSlot;
}

// The threads that have a slot wait for their queues alone; no PE is to blame if they keep it.
// Slots go to whoever comes first, so that one of many threads may wait for long: the bound starts
// anew while slots change hands. kNoSlot: the queue is out of use, the job is aborted, or no slot
// came free in time.
CHIME_DEVICE_OUT_OF_LINE std::uint32_t take_slot(const Context& ctx, const Channel& queue) {
  const abi::NicStaging& staging = ctx.nic.staging;
  Wait wait = wait_for_word(ctx, queue, staging.busy, abi::kNicSlotFree);
  wait.pe = -1;
  std::uint32_t slot = kNoSlot;
  const auto taken_so_far = [&] {
    return exec::ld<Order::kRelaxed, Scope::kDevice>(times_taken(staging));
  };
  std::uint64_t before = 0;
  WaitResult result;
  do {
    before = taken_so_far();
    result = spin_until(
        ctx, wait, [&] { return (slot = try_take_slot(ctx)) != kNoSlot || is_stopped(queue); });
  } while (result.status == CHIMEX_ERR_TIMEOUT && taken_so_far() != before &&
           !chime::detail::abort_is_raised(ctx));
  if (!result.ok()) record_wait(ctx, wait, result, staging.slots);
  return slot;
}

// `pending`: the target of the last request on the slot that may not have ended; 0 if there is
// none. Then the slot is free.
CHIME_DEVICE void give_back(const Context& ctx, std::uint32_t slot, const Channel& queue,
                            std::uint64_t pending) {
  const std::uint64_t word =
      pending == 0 ? abi::kNicSlotFree : abi::nic_left_slot(queue.index, pending);
  exec::st<Order::kRelease, Scope::kDevice>(&ctx.nic.staging.busy[slot], word);
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

// A transfer through a slot, in chunks of half of it. It lies in memory, not in registers.
struct Staged {
  Remote remote;
  std::byte* memory;  // source or destination
  std::size_t bytes;
  std::uint32_t slot = 0;
  Halves halves = {};
  std::uint64_t chunk = 0;             // the next one
  std::uint64_t before = 0, last = 0;  // targets of the last two requests

  CHIME_DEVICE bool is_over() const { return chunk * halves.bytes >= bytes; }
  CHIME_DEVICE std::byte* begin(std::uint64_t chunk) const { return memory + chunk * halves.bytes; }
  CHIME_DEVICE std::size_t bytes_of(std::uint64_t chunk) const {
    const std::size_t rest = bytes - chunk * halves.bytes;
    return rest < halves.bytes ? rest : halves.bytes;
  }
  CHIME_DEVICE Piece piece(std::uint64_t chunk) const {
    return {advanced(remote, chunk * halves.bytes), halves.local(chunk),
            static_cast<std::uint32_t>(bytes_of(chunk))};
  }
};

// Memory that the NIC reads and writes is like a peer's.
using chime::detail::Peer;
using chime::detail::Private;

template <class W, class From, class To>
CHIME_DEVICE_OUT_OF_LINE void copy_words(std::byte* dst, const std::byte* src, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(W)) {
    To::store(dst + at, From::template load<W>(src + at));
  }
}

// Plainer than copy.cuh, which moves more words at once: here registers are dearer than time.
template <class From, class To>
CHIME_DEVICE void copy_chunk(std::byte* dst, const std::byte* src, std::size_t bytes) {
  if (exec::memcpy_is_relaxed()) return static_cast<void>(memcpy(dst, src, bytes));
  const std::uint64_t both =
      reinterpret_cast<std::uint64_t>(dst) | reinterpret_cast<std::uint64_t>(src);
  const std::size_t rest = both % 16 == 0 ? bytes % 16 : both % 4 == 0 ? bytes % 4 : bytes;
  const std::size_t whole = bytes - rest;
  if (both % 16 == 0) {
    copy_words<exec::Vec16, From, To>(dst, src, whole);
  } else {
    copy_words<std::uint32_t, From, To>(dst, src, whole);
  }
  copy_words<std::uint8_t, From, To>(dst + whole, src + whole, rest);
}

// Nothing is flushed: slots lie where the CQEs do, as fetch slots.
CHIME_DEVICE_OUT_OF_LINE bool post_chunk(const Context& ctx, Channel& queue, Staged& all,
                                         abi::WqeOpcode opcode, std::uint64_t chunk) {
  const Ticket ticket =
      transfer_once(ctx, Alone{}, queue, opcode, {.units = 1}, [&] { return all.piece(chunk); });
  if (!ticket.ok()) return false;
  all.before = all.last;
  all.last = ticket.target;
  return true;
}

// Chunk c is filled when chunk c - 2, which had its half, has left.
CHIME_DEVICE_OUT_OF_LINE bool write_chunk(const Context& ctx, Channel& queue, Staged& all) {
  const std::uint64_t chunk = all.chunk++;
  if (chunk >= 2 && !await_done(ctx, queue, all.before)) return false;
  copy_chunk<Private, Peer>(all.halves.at(chunk), all.begin(chunk), all.bytes_of(chunk));
  return post_chunk(ctx, queue, all, abi::WqeOpcode::kWrite, chunk);
}

// Chunk c + 1 is on its way while chunk c is emptied.
CHIME_DEVICE_OUT_OF_LINE bool read_chunk(const Context& ctx, Channel& queue, Staged& all) {
  const std::uint64_t chunk = all.chunk++;
  constexpr auto kRead = abi::WqeOpcode::kRead;
  if (chunk == 0 && !post_chunk(ctx, queue, all, kRead, 0)) return false;
  if (!all.is_over() && !post_chunk(ctx, queue, all, kRead, chunk + 1)) return false;
  const bool is_last = all.is_over();
  if (!await_done(ctx, queue, is_last ? all.last : all.before)) return false;
  copy_chunk<Peer, Private>(all.begin(chunk), all.halves.at(chunk), all.bytes_of(chunk));
  return true;
}

// `move()` moves the next chunk.
template <class Move>
CHIME_DEVICE bool move_staged(const Context& ctx, Channel& queue, Staged& all, Move move) {
  if (!may_post(ctx, queue)) return false;
  all.slot = take_slot(ctx, queue);
  if (all.slot == kNoSlot) return false;
  const exec::Committed to_free_the_slot;
  all.halves = halves_of(ctx.nic.staging, all.slot);
  bool is_done = true;
  while (is_done && !all.is_over()) is_done = move();
  is_done = is_done && await_done(ctx, queue, all.last);
  give_back(ctx, all.slot, queue, is_done ? 0 : all.last);
  return is_done;
}

}  // namespace detail

// Complete when they return; false if they failed.
CHIME_DEVICE_OUT_OF_LINE bool staged_write(const Context& ctx, Channel& queue, Remote remote,
                                           const void* src, std::size_t bytes) {
  detail::Staged all = {remote, static_cast<std::byte*>(const_cast<void*>(src)), bytes};
  return detail::move_staged(ctx, queue, all, [&] { return detail::write_chunk(ctx, queue, all); });
}

CHIME_DEVICE_OUT_OF_LINE bool staged_read(const Context& ctx, Channel& queue, Remote remote,
                                          void* dst, std::size_t bytes) {
  detail::Staged all = {remote, static_cast<std::byte*>(dst), bytes};
  return detail::move_staged(ctx, queue, all, [&] { return detail::read_chunk(ctx, queue, all); });
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_STAGE_CUH_
