// A call of a collective: what is refused, how it begins and ends.
#ifndef CHIME_DEVICE_COLL_COLLECTIVE_CUH_
#define CHIME_DEVICE_COLL_COLLECTIVE_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/context.h"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/meeting.cuh"
#include "chime/device/coll/members.cuh"
#include "chime/device/coll/team.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/route.cuh"

namespace chime::detail {

// A call: each member's share has `bytes`. SIZE_MAX bytes are too many.
struct Collective {
  chime_team_t team;
  Operation operation;
  void* dst;
  const void* src;
  std::size_t bytes, dst_bytes, src_bytes;
  int root = 0;            // 0 where there is none
  unsigned variant = 0;    // of a reduction its operation and elements, of an alltoallv these
  bool is_uneven = false;  // members have different shares

  // What is the same on all members.
  CHIME_DEVICE std::uint64_t word() const {
    return abi::call_word(static_cast<std::uint32_t>(operation), variant, root);
  }
  CHIME_DEVICE std::uint64_t common_bytes() const { return is_uneven ? 0 : bytes; }
};

// The members of a team; 1 where this PE is in no such team, for which calls are refused.
CHIME_DEVICE std::size_t members_of(const Context& ctx, chime_team_t team) {
  const abi::Team* const found = find_team(ctx, team);
  return found == nullptr ? 1 : static_cast<unsigned>(found->size);
}
// `bytes` for each member of a team.
CHIME_DEVICE std::size_t bytes_of_all(const Context& ctx, chime_team_t team, std::size_t bytes) {
  return CHIME_BYTES(bytes, members_of(ctx, team));
}

// ---- Refusals -----------------------------------------------------------------------------------

// Whether memory may have so many bytes, and in a checked job the array has them.
CHIME_DEVICE bool is_right_array(const Context& ctx, const void* array, std::size_t bytes) {
  return !has_too_many_bytes({array, bytes, 1}) && (bytes == 0 || is_in_bounds(ctx, array, bytes));
}
// Whether members may put their data there.
CHIME_DEVICE bool may_receive(const Context& ctx, const void* dst, std::size_t bytes,
                              const abi::Team& team) {
  return bytes == 0 || team.size == 1 || is_in_heap(ctx, dst, bytes);
}

CHIME_DEVICE Failure refusal_of(const Context& ctx, const Collective& call) {
  const abi::Team* const team = find_team(ctx, call.team);
  if (team == nullptr) return team_refusal(call.operation, call.team);
  if (call.root < 0 || call.root >= team->size) {
    return {.status = CHIMEX_ERR_INVALID,
            .operation = call.operation,
            .fault = Fault::kRoot,
            .expected = static_cast<std::uint64_t>(static_cast<std::int64_t>(call.root)),
            .seen = static_cast<std::uint64_t>(call.team)};
  }
  const bool has_place = !has_too_many_bytes({call.dst, call.dst_bytes, 1}) &&
                         may_receive(ctx, call.dst, call.dst_bytes, *team);
  const bool dst_is_right = has_place && is_right_array(ctx, call.dst, call.dst_bytes);
  if (dst_is_right && is_right_array(ctx, call.src, call.src_bytes))
    return {.status = CHIMEX_OK, .operation = call.operation};
  return {.status = CHIMEX_ERR_INVALID,
          .operation = call.operation,
          .pe = ctx.pe.my_pe,
          .fault = has_place ? Fault::kBounds : Fault::kPlace,
          .address = dst_is_right ? call.src : call.dst,
          .expected = dst_is_right ? call.src_bytes : call.dst_bytes};
}

// Out of line and by value: a good call keeps none of it in memory.
CHIME_DEVICE_OUT_OF_LINE int record_refusal(const Context& ctx, bool is_leader, Collective call) {
  const Failure refusal = refusal_of(ctx, call);
  if (is_leader && refusal.status != CHIMEX_OK) record(ctx, refusal);
  return refusal.status;
}

// ---- Unlike calls -------------------------------------------------------------------------------

// A call, as its members tell each other of it.
struct ToldCall {
  std::uint64_t word, bytes;
};

CHIME_DEVICE_OUT_OF_LINE void fail_unalike(const Context& ctx, Meeting meeting, unsigned rank,
                                           ToldCall other) {
  const abi::SyncArea& area = meeting.area(ctx);
  const int pe = pe_of(team_of(ctx, meeting.handle), rank);
  end_meetings(ctx, meeting, CHIMEX_ERR_MISMATCH, pe);
  record(ctx, {.status = CHIMEX_ERR_MISMATCH,
               .operation = meeting.operation(),
               .pe = pe,
               .fault = Fault::kUnalike,
               .address = reinterpret_cast<const void*>(area.call_bytes),
               .expected = static_cast<std::uint64_t>(meeting.handle) |
                           static_cast<std::uint64_t>(abi::root_of_call(area.call)) << 32,
               .seen = other.word,
               .waited_ns = other.bytes});
}

// In a checked job: whether all members make the call that this PE's area tells of. If not, each
// has found one that does not, which is recorded.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool is_made_alike(const Context& ctx, Group g, Meeting meeting,
                                            ToldCall call) {
  constexpr std::size_t kBytes = sizeof(call);
  constexpr Round kRound = Round::kTurnOfWords;
  abi::SyncArea& area = meeting.area(ctx);  // NICs read the heap, and not registers
  if (g.is_leader()) area.call = call.word, area.call_bytes = call.bytes;
  if (!take_turn(ctx, g, meeting, kRound, whole(&area.call, kBytes), kBytes)) return false;
  const Arrived all = arrived(ctx, meeting, kRound, kBytes);
  bool differs = false;
  for (unsigned rank = 0; g.is_leader() && !differs && rank < size_of(ctx, meeting); ++rank) {
    if (rank == rank_of(ctx, meeting)) continue;
    ToldCall other;
    memcpy(&other, all.of(rank), kBytes);
    differs = other.word != call.word || other.bytes != call.bytes;
    if (differs) fail_unalike(ctx, meeting, rank, other);
  }
  if (g.any(differs)) return false;
  end_turn(ctx, g, meeting, kRound, kBytes);
  return true;
}

// ---- Beginning and end --------------------------------------------------------------------------

// Begins a call of the group. If it is refused, that is recorded.
template <class Group>
CHIME_DEVICE bool begin_exchange(const Context& ctx, Group g, Meeting meeting) {
  g.sync();  // what any member wrote may be sent by another one
  bool failed = false;
  if (g.is_leader()) {
    settle_words(ctx);
    failed = !begin_meeting(ctx, meeting);
  }
  return !g.any(failed);
}

// Ends a call whose messages had at most `bytes` each, and which went well so far. Its sources may
// be reused.
template <class Group>
CHIME_DEVICE bool end_exchange(const Context& ctx, Group g, Meeting meeting, bool is_well,
                               std::size_t bytes) {
  if (g.is_leader()) {
    if (is_well && bytes > kCarriedBytes) is_well = complete_messages(ctx, meeting);
    leave_lane(ctx, meeting);
    if (is_well) settle_words(ctx);
  }
  return !g.any(!is_well);
}

// By all members of the group: the status that the call returns. `act(meeting)` says whether it has
// succeeded.
template <class Group, class Act>
CHIME_DEVICE int collective(const Context& ctx, Group g, const Collective& call, Act act) {
  need_filled(ctx);
  if (const int refusal = record_refusal(ctx, g.is_leader(), call); refusal != CHIMEX_OK) {
    leave(ctx);
    return refusal;
  }
  const Meeting meeting(call.team, call.operation);
  const exec::Traced traced = trace_meeting(ctx, g, meeting, call.bytes);
  if (begin_exchange(ctx, g, meeting)) {
    const bool is_alike =
        checks_of(ctx) == 0 || is_made_alike(ctx, g, meeting, {call.word(), call.common_bytes()});
    if (end_exchange(ctx, g, meeting, is_alike && act(meeting), call.bytes)) {
      return traced.ended(CHIMEX_OK);
    }
  }
  return traced.ended(leave_failed(ctx, g, meeting));
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_COLLECTIVE_CUH_
