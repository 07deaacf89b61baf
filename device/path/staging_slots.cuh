// Slots of registered memory that stand in for memory that is not registered. A thread takes a
// slot. If it fails while a request on the slot is in flight, it leaves the slot to the channel;
// the next thread that looks for a slot finds out when the channel no longer uses it. A peer that
// does not answer keeps at most half of the slots (abi/pairs.h).
#ifndef CHIME_DEVICE_PATH_STAGING_SLOTS_CUH_
#define CHIME_DEVICE_PATH_STAGING_SLOTS_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/pairs.h"
#include "chime/abi/words.h"
#include "chime/device/channel/path.cuh"
#include "chime/device/channel/progress.cuh"
#include "chime/device/channel/stop.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/local_memory.cuh"
#include "chime/device/route.cuh"
#include "chime/device/wait.cuh"

namespace chime::staging {

using exec::Order;
using exec::Scope;

inline constexpr std::uint32_t kNoSlot = ~0u;

CHIME_DEVICE bool is_through(const Context& ctx, std::uint64_t word) {
  abi::Channel& channel = ctx.channels.pool.channels[abi::nic_channel_of_left_slot(word)];
  if (abi::nic_left_slot_is_free(word, channel::through(channel))) return true;
  channel::poll(channel);  // a channel that is out of use has no other poller
  return abi::nic_left_slot_is_free(word, channel::through(channel));
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

// Looks once at one of the slots that transfers to `pe` may have: number `turn`, modulo the number
// of these slots.
CHIME_DEVICE std::uint32_t try_take_slot(const Context& ctx, int pe, std::uint32_t turn) {
  const abi::NicStaging& staging = ctx.nic.staging;
  const std::uint32_t slot = abi::one_of_pair(turn & (staging.slots / 2 - 1), pe);
  if (!try_take(ctx, &staging.busy[slot])) return kNoSlot;
  exec::atomic_add<Order::kRelaxed, Scope::kDevice>(times_taken(staging), std::uint64_t{1});
  return slot;
}

// Differs between blocks and between lanes of a warp. It does not differ between all threads: a
// thread's identity would occupy five registers as long as the wait lasts.
CHIME_DEVICE std::uint32_t first_turn() {
  return exec::in_kernel() ? exec::block_rank() + exec::lane_id() : 0;
}

// Takes a slot for a transfer to `pe` by `channel`. The threads that have a slot wait only for
// their channels, so an error names no PE. No order is kept among the threads that wait, so one of
// many may wait for long: the bound starts anew while slots change hands. kNoSlot: the channel is
// out of use, the job is aborted, or no slot came free in time.
CHIME_DEVICE_OUT_OF_LINE std::uint32_t take_slot(const Context& ctx, const abi::Channel& channel,
                                                 int pe) {
  const abi::NicStaging& staging = ctx.nic.staging;
  const auto wait_for = [&] {
    Wait wait = channel::wait_for_word(ctx, channel, staging.busy, abi::kNicSlotFree);
    wait.pe = -1;
    return wait;
  };
  std::uint32_t slot = kNoSlot, turn = first_turn();
  exec::keep_in_memory(turn);
  const auto taken_so_far = [&] {
    return exec::ld<Order::kRelaxed, Scope::kDevice>(times_taken(staging));
  };
  std::uint64_t before = 0;
  WaitResult result;
  do {
    before = taken_so_far();
    exec::keep_in_memory(before);
    result = spin_until_for(ctx, wait_for, [&] {
      return (slot = try_take_slot(ctx, pe, turn++)) != kNoSlot || channel::is_stopped(channel);
    });
  } while (result.status == CHIMEX_ERR_TIMEOUT && taken_so_far() != before &&
           !chime::detail::abort_is_raised(ctx));
  if (!result.ok()) record_wait(ctx, wait_for(), result, staging.slots);
  return slot;
}

// `pending`: the target of the last request on the slot that may not have ended; 0 if there is
// none, and then the slot is free.
CHIME_DEVICE void give_back(const Context& ctx, std::uint32_t slot, const abi::Channel& channel,
                            std::uint64_t pending) {
  const std::uint64_t word =
      pending == 0 ? abi::kNicSlotFree : abi::nic_left_slot(channel.index, pending);
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

}  // namespace chime::staging

#endif  // CHIME_DEVICE_PATH_STAGING_SLOTS_CUH_
