// Messages: how a member of a team sends data to others in a lane, and awaits theirs (README.md,
// "Collectives").
//
// All members count the rounds of a lane alike. In a round a member sends to some others at most
// one message each: data, and behind it the round's number, which replaces the one of an earlier
// round in a word that this sender alone has there; or words, in a turn. The receiver awaits each
// message within its own call, so that none is in flight when all have left the call.
#ifndef CHIME_DEVICE_COLL_MESSAGE_CUH_
#define CHIME_DEVICE_COLL_MESSAGE_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/channel/posters.cuh"
#include "chime/device/coll/barrier.cuh"
#include "chime/device/coll/lane.cuh"
#include "chime/device/coll/members.cuh"
#include "chime/device/coll/step.cuh"
#include "chime/device/coll/words.cuh"
#include "chime/device/copy.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/op.cuh"
#include "chime/device/order.cuh"
#include "chime/device/path/ops.cuh"
#include "chime/device/route.cuh"
#include "chime/device/wait.cuh"

namespace chime::detail {

// To member `rank`. REQUIRES: `dst` is symmetric, which the call has made sure of.
struct Message {
  unsigned rank;
  void* dst;
  const void* src;
  std::size_t bytes;
};

enum class Round {
  kPlain,
  kTurn,         // to this PE's slot at each
  kTurnOfWords,  // the same; small messages may be words
};

CHIME_DEVICE unsigned rank_of(const Context& ctx, Meeting meeting) {
  return static_cast<unsigned>(team_of(ctx, meeting.handle).my_rank);
}
CHIME_DEVICE unsigned size_of(const Context& ctx, Meeting meeting) {
  return static_cast<unsigned>(team_of(ctx, meeting.handle).size);
}

// ---- By requests --------------------------------------------------------------------------------

CHIME_DEVICE_OUT_OF_LINE void fail_message(const Context& ctx, Meeting meeting, int pe) {
  end_meetings(ctx, meeting, CHIMEX_ERR_UNREACHABLE, pe);
  fail_route(ctx, target_of_arrival(arrival_of(ctx, meeting.handle, rank_of(ctx, meeting))), pe,
             meeting.operation());
}

// By the leader. The source may be reused after complete_messages(). The release is that of
// put_signal; await_message() has the acquire.
CHIME_DEVICE_OUT_OF_LINE bool send_by_channel(const Context& ctx, Meeting meeting,
                                              Message message) {
  const int pe = pe_of(team_of(ctx, meeting.handle), message.rank);
  const SignalUpdate arrival = {arrival_of(ctx, meeting.handle, rank_of(ctx, meeting)),
                                meeting.area(ctx).round};
  const bool is_sent =
      go_by_channel(ctx, traffic_of_meeting(meeting.handle), pe, [&](const auto& path) {
        if (message.bytes == 0) return path.announce(arrival);
        path.template put_in_turn<1>(
            channel::Leader{}, {message.dst, message.src, message.bytes, Until::kPosted}, arrival);
      });
  if (!is_sent) fail_message(ctx, meeting, pe);
  return is_sent;
}

// ---- By stores ----------------------------------------------------------------------------------

// The heap of member `rank`, as it is mapped here; null: requests lead there.
CHIME_DEVICE std::byte* heap_of_member(const Context& ctx, Meeting meeting, unsigned rank) {
  return exec::ld_settled(ctx.pe.peer_heap + pe_of(team_of(ctx, meeting.handle), rank));
}

CHIME_DEVICE bool go_as_words(const Context& ctx, Meeting meeting, Round round, std::size_t bytes) {
  return round == Round::kTurnOfWords && words_for(ctx, meeting, bytes) != 0;
}

// Words are complete with this; other data have an arrival behind them.
template <class Group>
CHIME_DEVICE void store_message(const Context& ctx, Group g, Meeting meeting, Round round,
                                std::byte* heap, const Message& message) {
  if (go_as_words(ctx, meeting, round, message.bytes)) {
    std::uint64_t* const words = words_of(ctx, meeting, rank_of(ctx, meeting));
    store_words(g, at_peer(ctx, heap, words), static_cast<const std::byte*>(message.src),
                message.bytes, number_in_words(meeting.area(ctx).turn));
  } else if (message.bytes != 0) {
    copy_to_peer(g, at_peer(ctx, heap, static_cast<std::byte*>(message.dst)), message.src,
                 message.bytes);
  }
}

// By the leader, after the members have met: their data come before. Pairs with the observe() in
// await_message().
CHIME_DEVICE void store_arrival(const Context& ctx, Meeting meeting, std::byte* heap) {
  std::uint64_t* const arrival = arrival_of(ctx, meeting.handle, rank_of(ctx, meeting));
  order::publish(at_peer(ctx, heap, arrival), meeting.area(ctx).round);
}

// ---- Sending ------------------------------------------------------------------------------------

// By all members of the group. False on the leader if it failed, which is recorded.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool send_data(const Context& ctx, Group g, Meeting meeting, Round round,
                                        Message message) {
  std::byte* const heap = heap_of_member(ctx, meeting, message.rank);
  if (heap == nullptr) return !g.is_leader() || send_by_channel(ctx, meeting, message);
  store_message(ctx, g, meeting, round, heap, message);
  return true;
}
// By the leader, when the members of the group have met after send_data().
CHIME_DEVICE void send_arrival(const Context& ctx, Meeting meeting, Round round, unsigned rank,
                               std::size_t bytes) {
  std::byte* const heap = heap_of_member(ctx, meeting, rank);
  if (heap == nullptr) return;  // it went with the data
  if (!go_as_words(ctx, meeting, round, bytes)) store_arrival(ctx, meeting, heap);
}

// ---- Waiting ------------------------------------------------------------------------------------

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

// In place of a number of words. To kByTree the root's rank is added.
inline constexpr unsigned kByDoubling = ~0u, kByNode = ~0u - 1, kByTree = 1u << 31;

CHIME_DEVICE Wait wait_for_message(const Context& ctx, Meeting meeting, unsigned rank) {
  return {.operation = meeting.operation(),
          .address = arrival_of(ctx, meeting.handle, rank),
          .expected = meeting.area(ctx).round,
          .pe = pe_of(team_of(ctx, meeting.handle), rank),
          .timeout_ns = timeout_of_wait(ctx, meeting)};
}

// By doubling, `rank` may not have sent because it waits for a member of its group, which may wait
// for another one. The last of these, as far as this PE can load what has come to each.
CHIME_DEVICE_OUT_OF_LINE unsigned last_awaited(const Context& ctx, Meeting meeting, unsigned rank) {
  const std::uint64_t round = meeting.area(ctx).round;
  unsigned end = most_between(rank_of(ctx, meeting), rank);  // it sends after the steps below this
  for (unsigned most = 1; most < end;) {
    std::byte* const heap = heap_of_member(ctx, meeting, rank);
    if (heap == nullptr) break;
    const Step step(rank, size_of(ctx, meeting), most);
    const bool has_other = step.other.count != 0;
    const unsigned sender = has_other ? step.sender() : rank;
    const std::uint64_t* const arrival = arrival_of(ctx, meeting.handle, sender);
    if (!has_other || order::observe(at_peer(ctx, heap, arrival)) >= round) {
      most *= 2;
    } else {
      rank = sender, end = most, most = 1;
    }
  }
  return rank;
}

// By nodes, a member of this PE's node may not have sent because it waits in the round before for
// one of another node.
CHIME_DEVICE_OUT_OF_LINE unsigned awaited_on_node(const Context& ctx, Meeting meeting,
                                                  unsigned rank) {
  const unsigned each = node_members_of(ctx, meeting);
  std::byte* const heap = heap_of_member(ctx, meeting, rank);
  if (heap == nullptr) return rank;
  for (unsigned other = rank % each; other < size_of(ctx, meeting); other += each) {
    const std::uint64_t* const arrival = arrival_of(ctx, meeting.handle, other);
    if (other == rank) continue;
    if (order::observe(at_peer(ctx, heap, arrival)) + 1 < meeting.area(ctx).round) return other;
  }
  return rank;
}

// By a tree, `rank` may wait for its parent, and that one for its own: the first of these to which
// its parent has sent, as far as this PE can load that.
CHIME_DEVICE_OUT_OF_LINE unsigned awaited_in_tree(const Context& ctx, Meeting meeting,
                                                  unsigned rank, BroadcastTree tree) {
  while (const unsigned distance = tree.distance(rank)) {
    std::byte* const heap = heap_of_member(ctx, meeting, rank);
    if (heap == nullptr) break;
    const std::uint64_t* const arrival = arrival_of(ctx, meeting.handle, tree.parent(distance));
    if (order::observe(at_peer(ctx, heap, arrival)) >= meeting.area(ctx).round) break;
    rank = tree.parent(distance);
  }
  return rank;
}

CHIME_DEVICE_OUT_OF_LINE void fail_to_hear(const Context& ctx, Meeting meeting, unsigned rank,
                                           unsigned words, WaitResult result) {
  unsigned last = rank;
  if (words >= kByTree && result.status == CHIMEX_ERR_TIMEOUT && result.pe >= 0) {
    if (words == kByDoubling)
      last = last_awaited(ctx, meeting, rank);
    else if (words == kByNode)
      last = awaited_on_node(ctx, meeting, rank);
    else
      last = awaited_in_tree(ctx, meeting, rank, {words - kByTree, size_of(ctx, meeting)});
    result.pe = pe_of(team_of(ctx, meeting.handle), last);
  }
  const bool is_below_root = words >= kByTree && words < kByNode && last != words - kByTree;
  const bool may_wait = words == kByDoubling || is_below_root;
  end_by_wait(ctx, meeting, wait_for_message(ctx, meeting, rank), result,
              order::observe(arrival_of(ctx, meeting.handle, rank)),
              may_wait ? Fault::kWaitForWaiting : Fault::kWait);
}

// By the leader: until member `rank` has sent in this round, as `words` words (0: as none) or with
// an arrival. The sender alone decides which. From kByTree on: with an arrival, which may be late
// because of a third member.
CHIME_DEVICE_OUT_OF_LINE bool await_message(const Context& ctx, Meeting meeting, unsigned rank,
                                            unsigned words) {
  const std::uint64_t* const arrival = arrival_of(ctx, meeting.handle, rank);
  const std::uint64_t* const first = words_of(ctx, meeting, rank);
  const std::uint64_t round = meeting.area(ctx).round;
  const std::uint32_t number = number_in_words(meeting.area(ctx).turn);
  const bool is_number_of_words = words != 0 && words < kByTree;
  unsigned seen = 0;
  const exec::Traced traced =
      trace(ctx, Thread{}, {meeting.operation(), pe_of(team_of(ctx, meeting.handle), rank)});
  const WaitResult result = spin_until_for(
      ctx, [&] { return wait_for_message(ctx, meeting, rank); },
      [&] {
        if (is_number_of_words && have_come(first, words, number, seen)) {
          order::stores_follow_loads();  // into slots, which the member has read (end_turn)
          return true;
        }
        return order::observe(arrival) >= round;
      },
      [&](std::uint64_t start) {
        if (has_channels(ctx)) channel::watch(ctx, start);
        return lost_to_exchange(ctx, meeting.handle);
      });
  traced.end();
  if (!result.ok()) fail_to_hear(ctx, meeting, rank, words, result);
  return result.ok();
}

// ---- Sources ------------------------------------------------------------------------------------

// What a request carries by itself, on every path: its source may be reused at once.
inline constexpr std::size_t kCarriedBytes = 16;

// By the leader: all that the lane has sent has left its sources. False if some of it has failed,
// which is recorded.
CHIME_DEVICE_OUT_OF_LINE bool complete_messages(const Context& ctx, Meeting meeting) {
  if (!has_channels(ctx)) return true;
  const abi::Team& team = team_of(ctx, meeting.handle);
  bool is_well = true;
  for (unsigned rank = 0; rank < static_cast<unsigned>(team.size); ++rank) {
    const int pe = pe_of(team, rank);
    abi::Channel* const channel = channel_of_meeting(ctx, traffic_of_meeting(meeting.handle), pe);
    if (channel == nullptr) continue;
    if (channel::drain(ctx, *channel) || !channel::has_lost(*channel, pe)) continue;
    // What goes to the other members leaves its sources all the same.
    if (is_well) channel::tell_of_operation(ctx, *channel, pe);
    if (is_well) end_meetings(ctx, meeting, CHIMEX_ERR_NETWORK, pe);
    is_well = false;
  }
  return is_well;
}

// The same for a group whose sources had at most `bytes` each, and change now.
template <class Group>
CHIME_DEVICE bool complete_sources(const Context& ctx, Group g, Meeting meeting,
                                   std::size_t bytes) {
  if (bytes <= kCarriedBytes || !has_channels(ctx)) return true;
  bool failed = false;
  if (g.is_leader()) failed = !complete_messages(ctx, meeting);
  return !g.any(failed);
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_MESSAGE_CUH_
