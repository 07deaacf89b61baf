// barrier_all and sync_all: dissemination over monotone counters.
//
// In round r of its n-th sync, a member of the team stores n into flags[r] of the one 2^r after it,
// and waits until the one 2^r before it has stored at least n into its own. After
// ceil(log2(members)) rounds everybody has heard, through others, from everybody. Counters never go
// back, so nothing needs a reset, and a fast neighbour that is already one sync ahead does no harm.
// Each flag has one writer, whose arrivals take one way, in order (device/channel/README.md).
//
// abi/README.md has the picture of the SyncArea.
#ifndef CHIME_DEVICE_COLL_BARRIER_CUH_
#define CHIME_DEVICE_COLL_BARRIER_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/channel/watch.cuh"
#include "chime/device/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/order.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/route.cuh"
#include "chime/device/sync.cuh"
#include "chime/device/wait.cuh"

namespace chime {
namespace detail {

// Tells `pe` that this PE has come to round `round` of sync `epoch`, and so has all that this PE
// knows of. Pairs with the observe() in await_round on that PE.
CHIME_DEVICE bool announce_round(const Context& ctx, Operation operation, int round,
                                 std::uint64_t epoch, int pe) {
  std::uint64_t* const flag = &ctx.team.sync->flags[round].arrived;
  const Route route = route_to(ctx, Traffic::kMeeting, target_word(flag), pe);
  const SignalUpdate arrival = {flag, epoch};
  // If sending it fails, so does the wait for what comes of it.
  if (dispatch(ctx, route, [&](const auto& path) { path.announce(arrival); })) return true;
  fail_route(ctx, target_word(flag), pe, operation);
  return false;
}

// Waits for the same word from `pe`.
CHIME_DEVICE bool await_round(const Context& ctx, Operation operation, int round,
                              std::uint64_t epoch, int pe) {
  const std::uint64_t* const flag = &ctx.team.sync->flags[round].arrived;
  const Wait wait = {.operation = operation,
                     .address = flag,
                     .expected = epoch,
                     .pe = pe,
                     .timeout_ns = ctx.pe.wait_timeout_ns};
  std::uint64_t seen = 0;
  const WaitResult result =
      wait_for_peers(ctx, wait, [&] { return (seen = order::observe(flag)) >= epoch; });
  if (!result.ok()) record_wait(ctx, wait, result, seen);
  return result.ok();
}

CHIME_DEVICE int pe_of(const abi::Team& team, unsigned rank) {
  return team.pes == nullptr ? static_cast<int>(rank) : team.pes[rank];
}

// By one thread of the PE. False if it failed; the failure is recorded.
CHIME_DEVICE bool disseminate(const Context& ctx, Operation operation) {
  const abi::Team& team = ctx.team;
  const std::uint64_t epoch = ++team.sync->epoch;
  const auto size = static_cast<unsigned>(team.size), me = static_cast<unsigned>(team.my_rank);
  for (int round = 0; 1u << round < size; ++round) {
    const unsigned distance = 1u << round;
    const int after = pe_of(team, (me + distance) % size);
    const int before = pe_of(team, (me + size - distance) % size);
    if (!announce_round(ctx, operation, round, epoch, after)) return false;
    if (!await_round(ctx, operation, round, epoch, before)) return false;
  }
  return true;
}

// The host meets by the same words as kernels, and by other channels. So it lets their arrivals
// land before its own, and its own before it returns: a flag that went back would be waited for in
// vain.
CHIME_DEVICE bool shares_words(const Context& ctx) { return ctx.channels.kernels != nullptr; }

template <class Group>
CHIME_DEVICE void sync_group(const Context& ctx, Group g, Operation operation) {
  g.sync();  // what any member did happens before the leader's announcement
  bool failed = false;
  if (g.is_leader()) {
    if (operation == Operation::kBarrierAll || shares_words(ctx)) quiet(ctx);
    failed = !disseminate(ctx, operation);
    if (!failed && shares_words(ctx)) channel::quiet(ctx);
  }
  if (g.any(failed)) leave(ctx);
}

}  // namespace detail

// Returns when all PEs have called, and all puts, signals and atomics that the members of the
// groups issued before are complete. One group per PE calls it; not two at once, nor host and
// device at once. Bounded by CHIME_TIMEOUT: a PE that does not come is an error that names it.
template <class Group>
CHIME_DEVICE void barrier_all(const Context& ctx, Group g) {
  detail::sync_group(ctx, g, Operation::kBarrierAll);
}

// The same without completing remote operations: only each PE's stores to its own memory are
// visible to the others after it.
template <class Group>
CHIME_DEVICE void sync_all(const Context& ctx, Group g) {
  detail::sync_group(ctx, g, Operation::kSyncAll);
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_BARRIER_CUH_
