// How the members of a team meet: by counters that never go back.
//
// In round r of a meeting, a member stores the meeting's number into flags[r] of another one, and
// waits until a third has stored at least that into its own. Nothing needs a reset, and a fast
// neighbour that is already one meeting ahead does no harm. Each flag has one writer, whose
// arrivals go by one channel, in order (device/channel/README.md).
//
// By dissemination the others are 2^r ranks after and before the member. It waits in each round
// before the next one, so after ceil(log2(members)) rounds it has heard, through others, from all.
// Up to 16 members that map each other meet directly (host/teams/algorithms.hpp): the others are
// r + 1 ranks after and before, and a member waits when it has stored all. The stores are relaxed,
// behind one fence: a release for each would wait for the one before.
//
// abi/control_page.md has the picture of the SyncArea; README.md says why another team may have it
// afterwards.
#ifndef CHIME_DEVICE_COLL_BARRIER_CUH_
#define CHIME_DEVICE_COLL_BARRIER_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/abi/words.h"
#include "chime/device/channel/watch.cuh"
#include "chime/device/coll/meeting.cuh"
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

// The word by which a PE hears of a round: Chime's own, in no allocation.
CHIME_DEVICE Target target_of_arrival(const std::uint64_t* flag) {
  return {flag, sizeof(*flag), alignof(std::uint64_t), true};
}

CHIME_DEVICE_OUT_OF_LINE void fail_announcement(const Context& ctx, Meeting meeting, int pe) {
  end_meetings(ctx, meeting, CHIMEX_ERR_UNREACHABLE, pe);
  fail_route(ctx, target_of_arrival(meeting.flag(ctx)), pe, meeting.operation());
}

// Says to the PE after this one that this PE has come to the round, and so have all that it knows
// of. Pairs with the observe() in await_arrival on that PE. `announce(path, arrival)` sends it.
template <class Announce>
CHIME_DEVICE bool announce_arrival(const Context& ctx, Meeting meeting, Announce announce) {
  const int pe = pe_after(ctx, meeting);
  std::uint64_t* const flag = meeting.flag(ctx);
  const SignalUpdate arrival = {flag, meeting.area(ctx).epoch};
  // If it is lost in flight, the wait for what comes of it fails.
  if (go(ctx, traffic_of_meeting(meeting.handle), target_of_arrival(flag), pe,
         [&](const auto& path) { announce(path, arrival); })) {
    return true;
  }
  fail_announcement(ctx, meeting, pe);
  return false;
}

// The bound of a wait of the call, which asks at each look: a deadline of the call's own has
// passed, or is none yet.
CHIME_DEVICE std::uint64_t timeout_of_wait(const Context& ctx, Meeting meeting) {
  const std::uint64_t deadline_ns = meeting.area(ctx).deadline_ns;
  if (deadline_ns == 0) return ctx.pe.wait_timeout_ns;
  return exec::clock_ns() >= deadline_ns ? 1 : 0;
}

// The same on the timeline: the wait of a call that meets names the PE.
CHIME_DEVICE abi::TracedWork work_of_wait(const Context& ctx, Meeting meeting) {
  return {meeting.operation(), pe_before(ctx, meeting)};
}

// The wait for the arrival of the PE before this one.
CHIME_DEVICE Wait wait_for_arrival(const Context& ctx, Meeting meeting) {
  return {.operation = meeting.operation(),
          .address = meeting.flag(ctx),
          .expected = meeting.area(ctx).epoch,
          .pe = pe_before(ctx, meeting),
          .timeout_ns = timeout_of_wait(ctx, meeting)};
}

// The channel by which a lane sends to a PE, if it is open; null where stores reach the PE.
CHIME_DEVICE abi::Channel* channel_of_meeting(const Context& ctx, Traffic traffic, int pe) {
  const bool is_mapped = exec::ld_settled(ctx.pe.peer_heap + pe) != nullptr;
  const std::uint32_t route = is_mapped ? 0 : channel::route_so_far(ctx.channels, pe);
  if (route == 0) return nullptr;
  return ctx.channels.pool.channels + abi::first_of_route(route) + slot_for(ctx.channels, traffic);
}

// Whether what announces a meeting to a PE is lost, now or when its turn comes.
CHIME_DEVICE bool has_lost_announcement(const Context& ctx, Traffic traffic, int pe) {
  const abi::Channel* const channel = channel_of_meeting(ctx, traffic, pe);
  return channel != nullptr && channel::has_lost(*channel, pe);
}

// A member of the team that is dead; -1: none is known to be. Most often no PE of the job is.
CHIME_DEVICE int dead_member(const Context& ctx, const abi::Team& team) {
  const int first = first_dead(ctx);
  if (first < 0 || rank_in(team, first) >= 0) return first;
  for (int pe = 0; pe < ctx.pe.n_pes; pe += 64) {
    for (std::uint64_t dead = order::observe(ctx.pe.dead + pe / 64); dead != 0; dead &= dead - 1) {
      const int other = pe + static_cast<int>(exec::lowest_bit(dead));
      if (rank_in(team, other) >= 0) return other;
    }
  }
  return -1;
}

// The PE that keeps a meeting from its end: a member that is dead, or one that cannot hear that
// this PE has come. -1: there is none.
CHIME_DEVICE_OUT_OF_LINE int lost_to_meeting(const Context& ctx, std::int32_t handle) {
  const abi::Team& team = team_of(ctx, handle);
  if (const int dead = dead_member(ctx, team); dead >= 0) return dead;
  if (!has_channels(ctx) || !channel::some_lost(ctx.channels.pool)) return -1;
  for (int round = 0; has_round(team, handle, round); ++round) {
    const int pe = pe_after(team, distance_of(team, handle, round));
    if (has_lost_announcement(ctx, traffic_of_meeting(handle), pe)) return pe;
  }
  return -1;
}

// The call ends because a wait of it did, which is recorded. If a bound of the call's own is over,
// its caller learns so by the status alone. (The job may be aborted by a timeout of another PE's.)
CHIME_DEVICE void end_by_wait(const Context& ctx, Meeting meeting, const Wait& wait,
                              const WaitResult& result, std::uint64_t seen, Fault fault) {
  if (result.status == CHIMEX_ERR_TIMEOUT && is_over(ctx, meeting) && !abort_is_raised(ctx)) {
    meeting.area(ctx).deadline_ns = kWasOver;
  } else {
    record_wait(ctx, wait, result, seen, fault);
  }
  end_meetings(ctx, meeting, result.status, result.pe);
}

// By all members of the group: what a call returns that failed after it had begun. Leaves, as
// CHIME_ON_ERROR says, unless the bound was the call's own.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE int leave_failed(const Context& ctx, Group g, Meeting meeting) {
  if (g.any(g.is_leader() && was_over(ctx, meeting))) return CHIMEX_ERR_TIMEOUT;
  leave(ctx);
  return CHIMEX_ERR_ABORTED;
}

CHIME_DEVICE_OUT_OF_LINE void fail_arrival(const Context& ctx, Meeting meeting, WaitResult result) {
  const bool is_first = meeting.round() == 0 || is_direct(ctx, meeting);
  end_by_wait(ctx, meeting, wait_for_arrival(ctx, meeting), result,
              order::observe(meeting.flag(ctx)), is_first ? Fault::kWait : Fault::kWaitForWaiting);
}

CHIME_DEVICE bool await_arrival(const Context& ctx, Meeting meeting) {
  const std::uint64_t* const flag = meeting.flag(ctx);
  const std::uint64_t epoch = meeting.area(ctx).epoch;
  const exec::Traced traced = trace(ctx, Thread{}, work_of_wait(ctx, meeting));
  const WaitResult result = spin_until_for(
      ctx, [&] { return wait_for_arrival(ctx, meeting); },
      [&] { return order::observe(flag) >= epoch; },
      [&](std::uint64_t start) {
        if (has_channels(ctx)) channel::watch(ctx, start);  // other threads may wait for its finds
        return lost_to_meeting(ctx, meeting.handle);
      });
  traced.end();
  if (!result.ok()) fail_arrival(ctx, meeting, result);
  return result.ok();
}

// Where members meet directly. The fence is the release of all rounds, and pairs with the observe()
// in await_arrival. False: stores do not reach the PE.
CHIME_DEVICE bool store_directly(const Context& ctx, Meeting meeting) {
  if (meeting.round() == 0) order::puts_visible();
  std::byte* const heap = exec::ld_settled(ctx.pe.peer_heap + pe_after(ctx, meeting));
  if (heap == nullptr) return false;
  order::store_data(at_peer(ctx, heap, meeting.flag(ctx)), meeting.area(ctx).epoch);
  return true;
}

// Out of line, and each finds anew what both need: so nothing of one is in a register while the
// other waits.
CHIME_DEVICE_OUT_OF_LINE bool announce_round(const Context& ctx, Meeting meeting) {
  if (is_direct(ctx, meeting) && store_directly(ctx, meeting)) return true;
  return announce_arrival(
      ctx, meeting, [](const auto& path, const SignalUpdate& arrival) { path.announce(arrival); });
}
CHIME_DEVICE_OUT_OF_LINE bool await_round(const Context& ctx, Meeting meeting, Waits waits) {
  return waits != waits_of(ctx, meeting) || await_arrival(ctx, meeting);
}

// Out of line: the loops below keep the handle, and not the team.
CHIME_DEVICE_OUT_OF_LINE bool has_later_wait(const Context& ctx, Meeting meeting) {
  return waits_of(ctx, meeting) == Waits::kLater &&
         has_round(team_of(ctx, meeting.handle), meeting.handle, meeting.round());
}
CHIME_DEVICE_OUT_OF_LINE bool has_round(const Context& ctx, Meeting meeting) {
  return has_round(team_of(ctx, meeting.handle), meeting.handle, meeting.round());
}

// By one thread of the PE, which calls announce() in each round, and await() in each or, where
// members meet directly, in a second turn of all rounds. False if it failed; the failure is
// recorded.
template <class Announce, class Await>
CHIME_DEVICE bool come_together(const Context& ctx, Meeting& meeting, Announce announce,
                                Await await) {
  if (!begin_meeting(ctx, meeting)) return false;
  bool goes_on = true;
  for (; goes_on && has_round(ctx, meeting); meeting.go_on())
    goes_on = announce() && await(Waits::kEachRound);
  meeting = Meeting(meeting.handle, meeting.operation());
  for (; goes_on && has_later_wait(ctx, meeting); meeting.go_on()) goes_on = await(Waits::kLater);
  leave_lane(ctx, meeting);
  return goes_on;
}

CHIME_DEVICE bool come_together(const Context& ctx, Meeting meeting) {
  return come_together(
      ctx, meeting, [&] { return announce_round(ctx, meeting); },
      [&](Waits waits) { return await_round(ctx, meeting, waits); });
}

// The host meets by the same words as kernels, and by other channels. So it lets their arrivals
// land before its own, and its own before it returns: a flag that went back would be waited for in
// vain. What has failed is no matter of the meeting's: it may be for a PE that is no member.
CHIME_DEVICE void settle_words(const Context& ctx) {
  if (!exec::in_kernel() && ctx.channels.kernels != nullptr) channel::settle(ctx);
}

CHIME_DEVICE constexpr bool is_barrier(Operation operation) {
  return operation == Operation::kBarrierAll || operation == Operation::kBarrier;
}

// By all members of the group: the status of a call that meets. What it failed by is recorded, but
// where the bound was the call's own.
template <class Group>
CHIME_DEVICE int meet(const Context& ctx, Group g, std::int32_t team, Operation operation) {
  const exec::Traced traced = trace_meeting(ctx, g, Meeting(team, operation));
  g.sync();  // what any member did happens before the leader's announcement
  if (is_barrier(operation)) quiet_together(ctx, g);
  bool failed = false;
  if (g.is_leader()) {
    settle_words(ctx);
    failed = !come_together(ctx, Meeting(team, operation));
    if (!failed) settle_words(ctx);
  }
  return traced.ended(g.any(failed) ? leave_failed(ctx, g, Meeting(team, operation)) : CHIMEX_OK);
}

}  // namespace detail

// Returns when all PEs have called, and all puts, signals and atomics that the members of the
// groups issued before are complete. One group per PE calls it at a time, or the host. Bounded by
// CHIME_TIMEOUT: a PE that does not come is an error that names it. With a dead PE, which
// CHIME_ON_PEER_FAILURE=report has survive the others, it fails at once.
template <class Group>
CHIME_DEVICE void barrier_all(const Context& ctx, Group g) {
  need_filled(ctx);
  detail::meet(ctx, g, ctx.team, Operation::kBarrierAll);
}

// The same without completing remote operations: only each PE's stores to its own memory are
// visible to the others after it.
template <class Group>
CHIME_DEVICE void sync_all(const Context& ctx, Group g) {
  need_filled(ctx);
  detail::meet(ctx, g, ctx.team, Operation::kSyncAll);
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_BARRIER_CUH_
