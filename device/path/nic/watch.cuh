// What a thread does for the NIC's queues while it waits for other PEs: nobody else may be there to
// find that what it sent has failed.
#ifndef CHIME_DEVICE_PATH_NIC_WATCH_CUH_
#define CHIME_DEVICE_PATH_NIC_WATCH_CUH_

#include <cstdint>

#include "chime/abi/nic.h"
#include "chime/abi/state.h"
#include "chime/device/exec.cuh"
#include "chime/device/path/nic/complete.cuh"
#include "chime/device/path/nic/error.cuh"
#include "chime/device/path/nic/queue.cuh"
#include "chime/device/wait.cuh"

namespace chime {
namespace nic {
namespace detail {

inline constexpr std::int64_t kLookNs = 100'000;

CHIME_DEVICE std::int64_t ns_between(std::uint64_t before, std::uint64_t now) {
  return static_cast<std::int64_t>(now - before);
}

// The peer to whom a queue was lost, if the wait has lasted CHIME_TIMEOUT since; else -1.
CHIME_DEVICE int lost_peer(const Context& ctx, const abi::NicContext& nic, std::uint64_t start,
                           std::uint64_t now) {
  // Acquire: pairs with the release in publish_fault.
  const std::uint64_t lost = exec::ld<Order::kAcquire, Scope::kSystem>(&nic.watch->lost);
  const std::uint64_t patience = ctx.wait_timeout_ns;
  if (lost == 0 || patience == 0) return -1;
  const abi::NicFault& fault = nic.faults[lost - 1];
  const std::int64_t waited = ns_between(start, now), since = ns_between(fault.time_ns, now);
  return (waited < since ? waited : since) >= static_cast<std::int64_t>(patience) ? fault.pe : -1;
}

// One of all threads that wait looks, once in kLookNs.
CHIME_DEVICE bool is_turn_to_look(const abi::NicContext& nic, std::uint64_t now) {
  std::uint64_t* const looked = &nic.watch->looked_ns;
  const std::uint64_t before = exec::ld<Order::kRelaxed, Scope::kSystem>(looked);
  return ns_between(before, now) >= kLookNs &&
         exec::atomic_cas<Order::kRelaxed, Scope::kSystem>(looked, before, now) == before;
}

// A queue in use, in turn; null if the next ones are not, as far as a word of touched bits tells.
CHIME_DEVICE NicQueue* next_touched(const abi::NicContext& nic) {
  std::uint64_t* const next = &nic.watch->next;
  const std::uint64_t all = static_cast<std::uint64_t>(nic.n_pes) * nic.slots;
  std::uint64_t at = exec::ld<Order::kRelaxed, Scope::kSystem>(next);
  if (at >= all) at = 0;
  const std::uint64_t bits =
      exec::ld<Order::kRelaxed, Scope::kDevice>(nic.touched + at / 64) >> at % 64;
  at += bits != 0 ? exec::lowest_bit(bits) : 64 - at % 64;
  exec::st<Order::kRelaxed, Scope::kSystem>(next, at + (bits != 0 ? 1 : 0));
  return bits != 0 ? nic.queues + at : nullptr;
}

CHIME_DEVICE int watch(const Context& ctx, const abi::NicContext& nic, std::uint64_t start) {
  const std::uint64_t now = exec::clock_ns();
  const int pe = lost_peer(ctx, nic, start, now);
  if (pe >= 0 || !is_turn_to_look(nic, now)) return pe;
  NicQueue* const queue = next_touched(nic);
  if (queue == nullptr) return -1;
  poll(*queue);
  if (is_stopped(*queue)) tell(ctx, *queue);
  return -1;
}

}  // namespace detail

// Now and then in a wait that began at `start`: polls a queue that this PE has posted to, for what
// has failed. Returns whom the wait has lost all hope of, -1 if nobody.
CHIME_DEVICE_OUT_OF_LINE int watch(const Context& ctx, std::uint64_t start) {
  // The host also for what kernels have posted: they may be over.
  if (!exec::in_kernel()) {
    const int pe = detail::watch(ctx, ctx.host_nic, start);
    if (pe >= 0) return pe;
  }
  return detail::watch(ctx, ctx.nic, start);
}

}  // namespace nic

// Waits for what another PE is to do, with an eye on this PE's queues. A wait without a bound of
// its own ends when one of them has been lost for CHIME_TIMEOUT, the others by their bound.
template <class Done>
CHIME_DEVICE WaitResult wait_for_peers(const Context& ctx, const Wait& wait, Done done) {
  return spin_until(ctx, wait, done, [&](std::uint64_t start) {
    return ctx.nic.queues == nullptr ? -1 : nic::watch(ctx, start);
  });
}

}  // namespace chime

#endif  // CHIME_DEVICE_PATH_NIC_WATCH_CUH_
