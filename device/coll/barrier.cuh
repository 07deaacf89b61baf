// barrier_all and sync_all: dissemination over monotone counters.
//
// In round r of its n-th sync, a member of the team stores n into flags[r] of the one 2^r after it,
// and waits until the one 2^r before it has stored at least n into its own. After
// ceil(log2(members)) rounds everybody has heard, through others, from everybody. Counters never go
// back, so nothing needs a reset, and a fast neighbour that is already one sync ahead does no harm.
// Each flag has one writer, whose arrivals take one way, in order (device/channel/README.md).
//
// abi/control_page.md has the picture of the SyncArea.
#ifndef CHIME_DEVICE_COLL_BARRIER_CUH_
#define CHIME_DEVICE_COLL_BARRIER_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/channel/watch.cuh"
#include "chime/device/coll/members.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/order.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/route.cuh"
#include "chime/device/sync.cuh"
#include "chime/device/wait.cuh"

namespace chime {
namespace detail {

// Tells the PE after that this PE has come to `round` of its sync, and so has all that it knows of.
// Pairs with the observe() in await_arrival on that PE.
CHIME_DEVICE bool announce_arrival(const Context& ctx, Operation operation, int round) {
  abi::SyncArea& sync = *ctx.team.sync;
  const int pe = pe_after(ctx.team, round);
  std::uint64_t* const flag = &sync.flags[round].arrived;
  const Target target = {flag, sizeof(*flag), alignof(std::uint64_t), true};
  const SignalUpdate arrival = {flag, sync.epoch};
  // If sending it fails, so does the wait for what comes of it.
  if (go(ctx, Traffic::kMeeting, target, pe, [&](const auto& path) { path.announce(arrival); })) {
    return true;
  }
  fail_route(ctx, target, pe, operation);
  return false;
}

// Waits for the same word from the PE before.
CHIME_DEVICE bool await_arrival(const Context& ctx, Operation operation, int round) {
  const abi::SyncArea& sync = *ctx.team.sync;
  const std::uint64_t* const flag = &sync.flags[round].arrived;
  const std::uint64_t epoch = sync.epoch;
  const Wait wait = {.operation = operation,
                     .address = flag,
                     .expected = epoch,
                     .pe = pe_before(ctx.team, round),
                     .timeout_ns = ctx.pe.wait_timeout_ns,
                     .needs_all = true};
  const WaitResult result =
      wait_for_peers(ctx, wait, [&] { return order::observe(flag) >= epoch; });
  if (!result.ok()) record_wait(ctx, wait, result, order::observe(flag));
  return result.ok();
}

// Out of line, and each finds anew what both need: so nothing of one is in a register while the
// other waits.
CHIME_DEVICE_OUT_OF_LINE bool announce_round(const Context& ctx, Operation operation, int round) {
  return announce_arrival(ctx, operation, round);
}
CHIME_DEVICE_OUT_OF_LINE bool await_round(const Context& ctx, Operation operation, int round) {
  return await_arrival(ctx, operation, round);
}

// By one thread of the PE. False if it failed; the failure is recorded.
CHIME_DEVICE bool disseminate(const Context& ctx, Operation operation) {
  ++ctx.team.sync->epoch;
  for (int round = 0; 1u << round < static_cast<unsigned>(ctx.team.size); ++round) {
    if (!announce_round(ctx, operation, round)) return false;
    if (!await_round(ctx, operation, round)) return false;
  }
  return true;
}

// The host meets by the same words as kernels, and by other channels. So it lets their arrivals
// land before its own, and its own before it returns: a flag that went back would be waited for in
// vain.
CHIME_DEVICE bool shares_words(const Context& ctx) { return ctx.channels.kernels != nullptr; }

// Whether they have met, the same for all members of the group. If not, the failure is recorded.
template <class Group>
CHIME_DEVICE bool sync_group(const Context& ctx, Group g, Operation operation) {
  need_filled(ctx);
  g.sync();  // what any member did happens before the leader's announcement
  if (operation == Operation::kBarrierAll || shares_words(ctx)) quiet_together(ctx, g);
  bool failed = false;
  if (g.is_leader()) {
    failed = !disseminate(ctx, operation);
    if (!failed && shares_words(ctx)) channel::quiet(ctx);
  }
  if (!g.any(failed)) return true;
  leave(ctx);
  return false;
}

}  // namespace detail

// Returns when all PEs have called, and all puts, signals and atomics that the members of the
// groups issued before are complete. One group per PE calls it; not two at once, nor host and
// device at once. Bounded by CHIME_TIMEOUT: a PE that does not come is an error that names it. With
// a dead PE, which CHIME_ON_PEER_FAILURE=report has survive the others, it fails at once.
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
