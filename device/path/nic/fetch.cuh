// Results that come back into the queue's own memory: each goes to the slot of its request's first
// WQEBB (device/channel/result.cuh).
//
// The slots lie in the memory of the CQEs (host/transport/mlx5/view/view.hpp), and PCIe keeps a
// NIC's writes to one memory in order. So they need no DUMP, unlike reads into a GPU's memory
// (kNicFlushReads).
#ifndef CHIME_DEVICE_PATH_NIC_FETCH_CUH_
#define CHIME_DEVICE_PATH_NIC_FETCH_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/wqe.h"
#include "chime/device/channel/complete.cuh"
#include "chime/device/channel/error.cuh"
#include "chime/device/channel/result.cuh"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/request.cuh"

namespace chime::nic {
namespace detail {

CHIME_DEVICE std::uint32_t fetch_slot_of(const Channel& queue, std::uint64_t index) {
  return static_cast<std::uint32_t>(index & (queue.head.depth - 1));
}
CHIME_DEVICE Local local_of_slot(const Channel& queue, std::uint32_t slot) {
  return {queue.nic.fetch_nic + slot * sizeof(abi::NicFetchSlot), queue.nic.fetch_lkey_be, true};
}

// The place for results that no caller wants.
CHIME_DEVICE Local sink_of(const Channel& queue) { return local_of_slot(queue, queue.head.depth); }

// Takes the slot for the request.
CHIME_DEVICE void take_fetch_slot(const Context& ctx, Channel& queue, std::uint32_t index) {
  channel::take_result_place(ctx, queue, &queue.nic.fetch[index].busy);
}

struct Fetched {
  std::uint64_t value;
  bool is_there;
};

// Waits for the result and frees the slot. Out of line: registers keep nothing of the request
// during the wait.
CHIME_DEVICE_OUT_OF_LINE Fetched await_result(const Context& ctx, Channel& queue,
                                              std::uint64_t target, std::uint32_t slot) {
  std::uint64_t seen = 0;
  if (!channel::poll_until_done<Path::kNic>(ctx, queue, target, seen)) return {0, false};
  abi::NicFetchSlot& place = queue.nic.fetch[slot];
  const std::uint64_t value = exec::ld<Order::kRelaxed, Scope::kSystem>(&place.value);
  channel::free_result_place(&place.busy);
  return {value, true};
}

CHIME_DEVICE bool take_result(const Context& ctx, Channel& queue, Ticket ticket, std::uint32_t slot,
                              std::uint64_t* value) {
  if (!ticket.ok()) return false;
  const Fetched fetched = await_result(ctx, queue, ticket.target, slot);
  *value = fetched.value;
  return fetched.is_there;
}

}  // namespace detail

// Reads up to 8 bytes of a peer into `*value`, low bytes first; the other bytes are undefined.
CHIME_DEVICE bool fetch_bytes(const Context& ctx, Channel& queue, const Remote& remote,
                              std::uint32_t bytes, std::uint64_t* value) {
  const exec::Committed to_free_the_slot;
  std::uint32_t slot = 0;
  const Ticket ticket = submit(ctx, Thread{}, queue, {.units = 1},
                               [&](const QueueView& view, std::uint64_t index, bool is_last) {
                                 slot = detail::fetch_slot_of(queue, index);
                                 detail::take_fetch_slot(ctx, queue, slot);
                                 put_transfer({view, index, is_last}, abi::WqeOpcode::kRead, remote,
                                              detail::local_of_slot(queue, slot), bytes);
                               });
  return detail::take_result(ctx, queue, ticket, slot, value);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_FETCH_CUH_
