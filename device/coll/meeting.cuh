// A call of a team: where it finds its words, when the team refuses it, and why a team meets no
// more. barrier.cuh says how the members meet.
#ifndef CHIME_DEVICE_COLL_MEETING_CUH_
#define CHIME_DEVICE_COLL_MEETING_CUH_

#include <cstdint>

#include "chime/abi/context.h"
#include "chime/abi/words.h"
#include "chime/device/coll/members.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/exec/timeline.cuh"
#include "chime/device/fail.cuh"

namespace chime::detail {

// A call of a team, in the lane that its handle names, in one round of it: two registers beside the
// Context's address. Whoever needs the team looks it up anew.
struct Meeting {
  std::int32_t handle;
  std::uint32_t step;  // the operation, and the round above it

  static constexpr int kRoundShift = 16;
  CHIME_DEVICE Meeting(std::int32_t team, Operation operation)
      : handle(team), step(static_cast<std::uint32_t>(operation)) {}

  CHIME_DEVICE Operation operation() const {
    return static_cast<Operation>(step & ((1u << kRoundShift) - 1));
  }
  CHIME_DEVICE int round() const { return static_cast<int>(step >> kRoundShift); }
  CHIME_DEVICE void go_on() { step += 1u << kRoundShift; }

  CHIME_DEVICE abi::SyncArea& area(const Context& ctx) const {
    return team_of(ctx, handle).areas[abi::team_lane(handle)];
  }
  CHIME_DEVICE std::uint64_t* flag(const Context& ctx) const {
    return &area(ctx).flags[round()].arrived;
  }
  // Where the team keeps why it meets no more. What it agrees on fails by itself.
  CHIME_DEVICE std::uint64_t& failed(const Context& ctx) const {
    const abi::Team& team = team_of(ctx, handle);
    return abi::team_lane(handle) == team.lanes ? area(ctx).failed : team.areas[0].failed;
  }
};

// ---- Rounds -------------------------------------------------------------------------------------

// Whether each member tells all others by itself. What members agree on goes through others.
CHIME_DEVICE bool is_direct(const abi::Team& team, std::int32_t handle) {
  return team.meets_directly != 0 && abi::team_lane(handle) != team.lanes;
}
CHIME_DEVICE bool is_direct(const Context& ctx, Meeting meeting) {
  return is_direct(team_of(ctx, meeting.handle), meeting.handle);
}
enum class Waits { kEachRound, kLater };  // when a member waits for a round's arrival
CHIME_DEVICE Waits waits_of(const Context& ctx, Meeting meeting) {
  return is_direct(ctx, meeting) ? Waits::kLater : Waits::kEachRound;
}
// How many ranks after this PE the member is to which its arrival goes in a round.
CHIME_DEVICE unsigned distance_of(const abi::Team& team, std::int32_t handle, int round) {
  return is_direct(team, handle) ? static_cast<unsigned>(round) + 1 : 1u << round;
}
CHIME_DEVICE bool has_round(const abi::Team& team, std::int32_t handle, int round) {
  return distance_of(team, handle, round) < static_cast<unsigned>(team.size);
}
CHIME_DEVICE_OUT_OF_LINE int pe_after(const Context& ctx, Meeting meeting) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  return pe_after(team, distance_of(team, meeting.handle, meeting.round()));
}
CHIME_DEVICE_OUT_OF_LINE int pe_before(const Context& ctx, Meeting meeting) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  return pe_before(team, distance_of(team, meeting.handle, meeting.round()));
}

// ---- Words --------------------------------------------------------------------------------------

// The call on the timeline, until end() of what it returns; `bytes` of its messages. A team of
// other PEs may have the same handle: their first members differ.
template <class Group>
CHIME_DEVICE exec::Traced trace_meeting(const Context& ctx, Group g, Meeting meeting,
                                        std::size_t bytes = 0) {
  const exec::Traced traced = trace(ctx, g,
                                    {.operation = meeting.operation(),
                                     .bytes = bytes,
                                     .value = static_cast<std::uint64_t>(meeting.handle)});
  traced.saw([&] { return static_cast<std::uint64_t>(pe_of(team_of(ctx, meeting.handle), 0)); });
  return traced;
}

// The number after `last`, of meetings, rounds or turns here. A team that has the area after
// another one begins above all that were ever stored there.
CHIME_DEVICE std::uint64_t number_after(const Context& ctx, Meeting meeting, std::uint64_t last) {
  const std::uint64_t first = team_of(ctx, meeting.handle).first_epoch;
  return (last < first ? first : last) + 1;
}
CHIME_DEVICE std::uint64_t next_epoch(const Context& ctx, Meeting meeting) {
  return number_after(ctx, meeting, meeting.area(ctx).epoch);
}

// ---- A bound of the call's own ------------------------------------------------------------------

// In place of a time: the call has no bound; it was over.
inline constexpr std::uint64_t kNever = ~std::uint64_t{0}, kWasOver = 1;

CHIME_DEVICE bool is_over(const Context& ctx, Meeting meeting) {
  const std::uint64_t deadline_ns = meeting.area(ctx).deadline_ns;
  return deadline_ns != 0 && exec::clock_ns() >= deadline_ns;
}
// By the leader.
CHIME_DEVICE bool was_over(const Context& ctx, Meeting meeting) {
  return meeting.area(ctx).deadline_ns == kWasOver;
}

// ---- Why a team meets no more -------------------------------------------------------------------

// The team meets no more. Relaxed: only this PE's threads read it, and it stands for ever.
CHIME_DEVICE void end_meetings(const Context& ctx, Meeting meeting, int status, int pe) {
  exec::atomic_cas<exec::Order::kRelaxed, exec::Scope::kSystem>(
      &meeting.failed(ctx), std::uint64_t{0}, abi::team_failure(status, pe));
}

CHIME_DEVICE void record_refusal(const Context& ctx, Meeting meeting, Fault fault,
                                 std::uint64_t failure) {
  record(ctx, {.status = abi::status_of_failure(failure),
               .operation = meeting.operation(),
               .pe = abi::pe_of_failure(failure),
               .fault = fault,
               .expected = static_cast<std::uint64_t>(meeting.handle)});
}

// A call that fails leaves the members at different numbers: it is the team's last.
CHIME_DEVICE bool refuse_after_failure(const Context& ctx, Meeting meeting) {
  using enum exec::Order;
  using enum exec::Scope;
  const std::uint64_t failed = exec::ld<kRelaxed, kSystem>(&meeting.failed(ctx));
  if (failed == 0) return false;
  record_refusal(ctx, meeting, Fault::kTeamFailed, failed);
  return true;
}

// In a checked job a lane has one call at a time: two would count as one meeting, and neither would
// say that it met nobody.
CHIME_DEVICE bool refuse_second_call(const Context& ctx, Meeting meeting) {
  using enum exec::Order;
  using enum exec::Scope;
  if (checks_of(ctx) == 0) return false;
  // Acquire: pairs with the release in leave_lane. The words here are those of the call before.
  if (exec::atomic_exchange<kAcquire, kSystem>(&meeting.area(ctx).in_use, 1u) == 0) return false;
  record_refusal(ctx, meeting, Fault::kTeamInUse, abi::team_failure(CHIMEX_ERR_INVALID, -1));
  return true;
}
CHIME_DEVICE void leave_lane(const Context& ctx, Meeting meeting) {
  using enum exec::Order;
  using enum exec::Scope;
  if (checks_of(ctx) != 0) exec::st<kRelease, kSystem>(&meeting.area(ctx).in_use, 0u);
}

// Whether the call begins. If not, why is recorded.
CHIME_DEVICE_OUT_OF_LINE bool begin_meeting(const Context& ctx, Meeting meeting) {
  if (refuse_after_failure(ctx, meeting) || refuse_second_call(ctx, meeting)) return false;
  meeting.area(ctx).epoch = next_epoch(ctx, meeting);
  return true;
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_MEETING_CUH_
