// Rounds: how the members of a team send each other data in a lane (README.md, "Collectives").
//
// In a round a member sends to some others at most one message each: data, and behind it the
// round's number, which replaces the one of an earlier round in a word that this sender alone has
// there. All members count the rounds of a lane alike. The receiver awaits each message within its
// own call, so that none is in flight when all have left the call.
//
// A turn is a round in which each member sends to each other one, to the receiver's scratch, whose
// halves alternate. A member in turn t has heard from all in turn t - 1, so all have read what they
// got in turn t - 2.
#ifndef CHIME_DEVICE_COLL_EXCHANGE_CUH_
#define CHIME_DEVICE_COLL_EXCHANGE_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/abi/words.h"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/coll/meeting.cuh"
#include "chime/device/coll/members.cuh"
#include "chime/device/coll/team.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/order.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/wait.cuh"

namespace chime::detail {

// ---- A lane's memory ----------------------------------------------------------------------------

CHIME_DEVICE std::size_t lane_number(const Context& ctx, std::int32_t handle) {
  return static_cast<std::size_t>(abi::team_index(handle) * ctx.teams.lanes +
                                  abi::team_lane(handle));
}
// The number of the last round in which member `rank` has sent.
CHIME_DEVICE std::uint64_t* arrival_of(const Context& ctx, std::int32_t handle, unsigned rank) {
  std::byte* const lane = ctx.teams.arrivals + lane_number(ctx, handle) * ctx.teams.arrivals_bytes;
  return reinterpret_cast<std::uint64_t*>(lane) + rank;
}

// The bytes of a member's slot in half of the scratch: of a team's size alone, so that all paths
// cut data alike.
CHIME_DEVICE std::size_t slot_bytes(const Context& ctx, const abi::Team& team) {
  return ctx.teams.scratch_bytes / 2 / static_cast<unsigned>(team.size) & ~std::size_t{63};
}
// That of member `rank`, in the half of this turn.
CHIME_DEVICE std::byte* slot_of(const Context& ctx, std::int32_t handle, unsigned rank) {
  const abi::Team& team = team_of(ctx, handle);
  std::byte* const scratch = ctx.teams.scratch + lane_number(ctx, handle) * ctx.teams.scratch_bytes;
  const std::uint64_t turn = team.areas[abi::team_lane(handle)].turn;
  return scratch + (turn & 1) * (ctx.teams.scratch_bytes / 2) + rank * slot_bytes(ctx, team);
}

// ---- Calls --------------------------------------------------------------------------------------

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

// By the leader: takes the next number, which all messages of the round have.
CHIME_DEVICE void begin_round(const Context& ctx, Meeting meeting) {
  abi::SyncArea& area = meeting.area(ctx);
  area.round = number_after(ctx, meeting, area.round);
}
CHIME_DEVICE void begin_turn(const Context& ctx, Meeting meeting) {
  begin_round(ctx, meeting);
  abi::SyncArea& area = meeting.area(ctx);
  area.turn = number_after(ctx, meeting, area.turn);
}

// ---- Messages -----------------------------------------------------------------------------------

// Where a message goes. Data for Chime's scratch need no check of bounds.
struct Message {
  unsigned rank;
  Put put;
  bool to_scratch;
};

// The memory that the message touches; the word of its arrival if it has no data.
CHIME_DEVICE Target target_of(const Message& message, const std::uint64_t* arrival) {
  if (message.put.bytes == 0) return target_of_arrival(arrival);
  return {message.put.dst, message.put.bytes, 1, message.to_scratch, message.put.src};
}

CHIME_DEVICE_OUT_OF_LINE void fail_message(const Context& ctx, Meeting meeting, Message message) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const int pe = pe_of(team, message.rank);
  end_meetings(ctx, meeting, CHIMEX_ERR_UNREACHABLE, pe);
  const auto me = static_cast<unsigned>(team.my_rank);
  fail_route(ctx, target_of(message, arrival_of(ctx, meeting.handle, me)), pe, meeting.operation());
}

// Sends in this round, by all members of the group. Its source may be reused after
// complete_messages(). The release is that of put_signal; await_message() has the acquire.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool send_message(const Context& ctx, Group g, Meeting meeting,
                                           Message message) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const auto me = static_cast<unsigned>(team.my_rank);
  const SignalUpdate arrival = {arrival_of(ctx, meeting.handle, me), meeting.area(ctx).round};
  const bool is_sent = go(ctx, traffic_of_meeting(meeting.handle), target_of(message, arrival.word),
                          pe_of(team, message.rank), [&](const auto& path) {
                            if (message.put.bytes != 0) {
                              path.template put_in_turn<1>(g, message.put, arrival);
                            } else if (g.is_leader()) {
                              path.announce(arrival);
                            }
                          });
  if (!is_sent && g.is_leader()) fail_message(ctx, meeting, message);
  return is_sent;
}

// A member that is dead, or one to which something is lost; -1: there is none.
CHIME_DEVICE_OUT_OF_LINE int lost_to_exchange(const Context& ctx, std::int32_t handle) {
  const abi::Team& team = team_of(ctx, handle);
  if (const int dead = dead_member(ctx, team); dead >= 0) return dead;
  if (!has_channels(ctx) || !channel::some_lost(ctx.channels.pool)) return -1;
  for (unsigned rank = 0; rank < static_cast<unsigned>(team.size); ++rank) {
    const int pe = pe_of(team, rank);
    if (pe != ctx.pe.my_pe && has_lost_announcement(ctx, traffic_of_meeting(handle), pe)) return pe;
  }
  return -1;
}

CHIME_DEVICE Wait wait_for_message(const Context& ctx, Meeting meeting, unsigned rank) {
  return {.operation = meeting.operation(),
          .address = arrival_of(ctx, meeting.handle, rank),
          .expected = meeting.area(ctx).round,
          .pe = pe_of(team_of(ctx, meeting.handle), rank),
          .timeout_ns = ctx.pe.wait_timeout_ns};
}

// By the leader: until member `rank` has sent in this round.
CHIME_DEVICE_OUT_OF_LINE bool await_message(const Context& ctx, Meeting meeting, unsigned rank) {
  const std::uint64_t* const word = arrival_of(ctx, meeting.handle, rank);
  const std::uint64_t round = meeting.area(ctx).round;
  const WaitResult result = spin_until_for(
      ctx, [&] { return wait_for_message(ctx, meeting, rank); },
      [&] { return order::observe(word) >= round; },
      [&](std::uint64_t start) {
        if (has_channels(ctx)) channel::watch(ctx, start);
        return lost_to_exchange(ctx, meeting.handle);
      });
  if (result.ok()) return true;
  record_wait(ctx, wait_for_message(ctx, meeting, rank), result, order::observe(word));
  end_meetings(ctx, meeting, result.status, result.pe);
  return false;
}

// What a request carries by itself, on every path: its source may be reused at once.
inline constexpr std::size_t kCarriedBytes = 16;

// By the leader: all that the lane has sent has left its sources. False if some of it has failed,
// which is recorded.
CHIME_DEVICE_OUT_OF_LINE bool complete_messages(const Context& ctx, Meeting meeting) {
  if (!has_channels(ctx)) return true;
  const abi::Team& team = team_of(ctx, meeting.handle);
  for (unsigned rank = 0; rank < static_cast<unsigned>(team.size); ++rank) {
    const int pe = pe_of(team, rank);
    abi::Channel* const channel = channel_of_meeting(ctx, traffic_of_meeting(meeting.handle), pe);
    if (channel == nullptr) continue;
    if (channel::drain(ctx, *channel) || !channel::has_lost(*channel, pe)) continue;
    channel::tell_of_operation(ctx, *channel, pe);
    end_meetings(ctx, meeting, CHIMEX_ERR_NETWORK, pe);
    return false;
  }
  return true;
}

// The same for a group whose sources had at most `bytes` each, and change now.
template <class Group>
CHIME_DEVICE bool complete_sources(const Context& ctx, Group g, Meeting meeting,
                                   std::size_t bytes) {
  if (bytes <= kCarriedBytes) return true;
  bool failed = false;
  if (g.is_leader()) failed = !complete_messages(ctx, meeting);
  return !g.any(failed);
}

// ---- Rounds -------------------------------------------------------------------------------------

// The rank of the i-th other member, from the next one on: not all send to the same one at a time.
CHIME_DEVICE unsigned other_member(const abi::Team& team, unsigned i) {
  const unsigned rank = static_cast<unsigned>(team.my_rank) + i;
  const auto size = static_cast<unsigned>(team.size);
  return rank < size ? rank : rank - size;
}

// To each other member what `message(rank)` says, and from each its own. `begin(ctx, meeting)`
// begins the round. False if it failed; the failure is recorded.
template <class Group, class Begin, class MessageTo>
CHIME_DEVICE bool exchange_with_all(const Context& ctx, Group g, Meeting meeting, Begin begin,
                                    MessageTo message) {
  if (g.is_leader()) begin(ctx, meeting);
  g.sync();
  const abi::Team& team = team_of(ctx, meeting.handle);
  bool goes_on = true;
  const auto size = static_cast<unsigned>(team.size);
  for (unsigned i = 1; goes_on && i < size; ++i) {
    goes_on = send_message(ctx, g, meeting, message(other_member(team, i)));
  }
  if (g.is_leader()) {
    for (unsigned i = 1; goes_on && i < size; ++i) {
      goes_on = await_message(ctx, meeting, other_member(team, size - i));
    }
  }
  return !g.any(!goes_on);
}

// The part of an array that goes to a member.
struct Piece {
  const void* src;
  std::size_t bytes;
};
// The same by a turn: `piece(rank)` goes to the member's scratch.
template <class Group, class PieceFor>
CHIME_DEVICE bool take_turn(const Context& ctx, Group g, Meeting meeting, PieceFor piece) {
  return exchange_with_all(ctx, g, meeting, begin_turn, [&](unsigned rank) {
    const auto me = static_cast<unsigned>(team_of(ctx, meeting.handle).my_rank);
    const Piece mine = piece(rank);
    const Put put = {slot_of(ctx, meeting.handle, me), mine.src, mine.bytes, Until::kPosted};
    return Message{rank, put, true};
  });
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

// ---- A collective -------------------------------------------------------------------------------

// A call: each member's share has `bytes`, and `dst` has `results` of them, `src` has `sources`.
struct Collective {
  chime_team_t team;
  Operation operation;
  void* dst;
  const void* src;
  std::size_t bytes;
  unsigned results = 1, sources = 1;
  int root = 0;  // 0 where there is none

  // What is the same on all members.
  CHIME_DEVICE std::uint64_t digest() const {
    const auto of = [](std::uint64_t digest, std::uint64_t value) {
      return (digest ^ value) * 0x9e3779b97f4a7c15u ^ digest >> 29;
    };
    return of(of(of(1, static_cast<std::uint64_t>(operation)), bytes),
              static_cast<std::uint64_t>(root));
  }
};

// The members of a team; 0: this PE is in no such team.
CHIME_DEVICE unsigned members_of(const Context& ctx, chime_team_t team) {
  const abi::Team* const found = find_team(ctx, team);
  return found == nullptr ? 0 : static_cast<unsigned>(found->size);
}

// Whether memory may have so many bytes, and in a checked job the array has them.
CHIME_DEVICE bool is_right_array(const Context& ctx, const void* array, std::size_t bytes) {
  const Target target = {array, bytes, 1};
  return !has_too_many_bytes(target) && (bytes == 0 || is_in_bounds(ctx, array, bytes));
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
  const std::size_t results = CHIME_BYTES(call.bytes, call.results);
  const std::size_t sources = call.sources == 0 ? 0 : CHIME_BYTES(call.bytes, call.sources);
  const bool dst_is_right = is_right_array(ctx, call.dst, results);
  if (dst_is_right && is_right_array(ctx, call.src, sources))
    return {.status = CHIMEX_OK, .operation = call.operation};
  const bool is_count = has_too_many_bytes({call.dst, results, 1});
  return {.status = CHIMEX_ERR_INVALID,
          .operation = call.operation,
          .pe = ctx.pe.my_pe,
          .fault = is_count ? Fault::kPlace : Fault::kBounds,
          .address = dst_is_right ? call.src : call.dst,
          .expected = dst_is_right ? sources : results};
}

// By all members of the group: the status with which the call returns at once, which the leader has
// recorded; CHIMEX_OK: none.
CHIME_DEVICE_OUT_OF_LINE int refuse_call(const Context& ctx, bool is_leader,
                                         const Collective& call) {
  const Failure refusal = refusal_of(ctx, call);
  if (is_leader && refusal.status != CHIMEX_OK) record(ctx, refusal);
  return refusal.status;
}

// In a checked job: whether all members make the same call. If not, each has found one that does
// not, which is recorded.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool is_made_alike(const Context& ctx, Group g, Meeting meeting,
                                            const Collective& call) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const auto me = static_cast<unsigned>(team.my_rank), size = static_cast<unsigned>(team.size);
  const auto digest_of = [&](unsigned rank) {
    return reinterpret_cast<std::uint64_t*>(slot_of(ctx, meeting.handle, rank));
  };
  const auto begin = [&](const Context& context, Meeting in) {
    begin_turn(context, in);
    *digest_of(me) = call.digest();
  };
  const bool is_well = exchange_with_all(ctx, g, meeting, begin, [&](unsigned rank) {
    std::uint64_t* const mine = digest_of(me);
    return Message{rank, {mine, mine, sizeof(*mine), Until::kPosted}, true};
  });
  if (!is_well) return false;
  bool differs = false;
  for (unsigned rank = 0; g.is_leader() && !differs && rank < size; ++rank) {
    differs = *digest_of(rank) != call.digest();
    if (!differs) continue;
    end_meetings(ctx, meeting, CHIMEX_ERR_MISMATCH, pe_of(team, rank));
    record(ctx, {.status = CHIMEX_ERR_MISMATCH,
                 .operation = call.operation,
                 .pe = pe_of(team, rank),
                 .fault = Fault::kUnalike,
                 .expected = static_cast<std::uint64_t>(call.team)});
  }
  return !g.any(differs);
}

// By all members of the group: the status that the call returns. `act(meeting)` says whether it has
// succeeded.
template <class Group, class Act>
CHIME_DEVICE int collective(const Context& ctx, Group g, const Collective& call, Act act) {
  need_filled(ctx);
  int status = refuse_call(ctx, g.is_leader(), call);
  if (status == CHIMEX_OK) {
    const Meeting meeting(call.team, call.operation);
    status = CHIMEX_ERR_ABORTED;
    if (begin_exchange(ctx, g, meeting)) {
      const bool is_alike = ctx.pe.checked == 0 || is_made_alike(ctx, g, meeting, call);
      if (end_exchange(ctx, g, meeting, is_alike && act(meeting), call.bytes)) return CHIMEX_OK;
    }
  }
  leave(ctx);
  return status;
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_EXCHANGE_CUH_
