// By nodes: where each node has equally many members of a team, neighbours by rank, that map each
// other, a member sends what is for another node to one member there alone, that of its own place.
// That one passes it on. So with m members a node, NICs carry an m-th.
//
// A PE knows only its own node. So in the first call that would go by nodes the members of a lane
// tell each other how many they are here, and note what they have agreed on.
//
// There is no ring among the members of equal places: each sends to all others at once. The bytes
// are the same, in one step.
#ifndef CHIME_DEVICE_COLL_NODES_CUH_
#define CHIME_DEVICE_COLL_NODES_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/lane.cuh"
#include "chime/device/coll/message.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::detail {

// ---- Members of a node, and of a place ----------------------------------------------------------

// The other members of this PE's node, or those of its place on the other nodes.
enum class Peers { kHere, kElsewhere };
inline constexpr unsigned kNoPeer = ~0u;

// The i-th of them, from the next one on: not all send to the same one at a time. kNoPeer: there
// are no more. Found anew each time: that takes fewer registers than keeping what it is made of.
// REQUIRES: node_members_of() is known, and not 0.
CHIME_DEVICE_OUT_OF_LINE unsigned peer_at(const Context& ctx, Meeting meeting, Peers peers,
                                          unsigned i) {
  const unsigned each = node_members_of(ctx, meeting), me = rank_of(ctx, meeting);
  const bool here = peers == Peers::kHere;
  const unsigned count = here ? each : size_of(ctx, meeting) / each;
  const unsigned number = (here ? me % each : me / each) + 1 + i;
  if (i + 1 >= count) return kNoPeer;
  const unsigned other = number < count ? number : number - count;
  return here ? me / each * each + other : other * each + me % each;
}

// ---- Agreement ----------------------------------------------------------------------------------

// What this PE says of its node.
CHIME_DEVICE std::uint64_t claim_of(const Context& ctx, Meeting meeting) {
  const auto each = static_cast<unsigned>(team_of(ctx, meeting.handle).node_members);
  const unsigned first = each == 0 ? 0 : rank_of(ctx, meeting) / each * each;
  for (unsigned rank = first; rank < first + each; ++rank)
    if (rank != rank_of(ctx, meeting) && heap_of_member(ctx, meeting, rank) == nullptr) return 0;
  return each;
}

CHIME_DEVICE std::uint64_t agreed_claim(const Context& ctx, Meeting meeting) {
  const std::uint64_t mine = meeting.area(ctx).call;
  for (unsigned i = size_of(ctx, meeting) - 1; i-- > 0;)
    if (told_by(ctx, meeting, other_member(ctx, meeting, i)) != mine) return 0;
  return mine;
}

template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool agree_on_nodes(const Context& ctx, Group g, Meeting meeting) {
  abi::SyncArea& area = meeting.area(ctx);
  if (g.is_leader()) area.call = claim_of(ctx, meeting);
  if (!tell_all(ctx, g, meeting)) return false;
  if (g.is_leader())
    area.nodes = team_of(ctx, meeting.handle).first_epoch + 1 + agreed_claim(ctx, meeting);
  end_turn(ctx, g, meeting, Round::kTurn, sizeof(area.call));
  return true;
}

// By all members of the group: makes node_members_of() known. False if it failed, which is
// recorded.
template <class Group>
CHIME_DEVICE bool know_nodes(const Context& ctx, Group g, Meeting meeting) {
  if (meeting.area(ctx).nodes > team_of(ctx, meeting.handle).first_epoch) return true;
  return agree_on_nodes(ctx, g, meeting);
}

// ---- Messages -----------------------------------------------------------------------------------

// By the leader, behind the data that members of the group have stored: the round's arrival alone.
CHIME_DEVICE_OUT_OF_LINE bool send_arrival_alone(const Context& ctx, Meeting meeting,
                                                 unsigned rank) {
  std::byte* const heap = heap_of_member(ctx, meeting, rank);
  if (heap == nullptr) return send_by_channel(ctx, meeting, {rank, nullptr, nullptr, 0});
  store_arrival(ctx, meeting, heap);
  return true;
}

// By all members of the group, which have met: tells the peers of the round, and hears from each.
// `words` is that of await_message(): kByNode where each has waited for members elsewhere in the
// round before.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool hear_from(const Context& ctx, Group g, Meeting meeting, Peers peers,
                                        unsigned words) {
  bool goes_on = true;
  if (g.is_leader()) {
    unsigned rank = 0;
    for (unsigned i = 0; (rank = peer_at(ctx, meeting, peers, i)) != kNoPeer; ++i)
      goes_on = send_arrival_alone(ctx, meeting, rank) && goes_on;
    for (unsigned i = 0; goes_on && (rank = peer_at(ctx, meeting, peers, i)) != kNoPeer; ++i)
      goes_on = await_message(ctx, meeting, rank, words);
  }
  return !g.any(!goes_on);
}

template <class Group>
CHIME_DEVICE void next_round(const Context& ctx, Group g, Meeting meeting) {
  if (g.is_leader()) begin_round(ctx, meeting, Round::kPlain);
  g.sync();
}

// ---- A block of each member, to all -------------------------------------------------------------

// Where each member's block lies in all members' destinations. An fcollect has them in the order of
// ranks. A reduction divides its n bytes into a part for each place of a node, and a part into a
// block for each node.
struct NodeBlocks {
  std::byte* dst;
  std::size_t n;  // bytes of a member's, or of all
  bool is_divided;

  CHIME_DEVICE static std::size_t part(const Context& ctx, Meeting meeting, std::size_t n) {
    return bytes_of_block(n, node_members_of(ctx, meeting));
  }
  // At most.
  CHIME_DEVICE static std::size_t each(const Context& ctx, Meeting meeting, std::size_t n) {
    const unsigned nodes = size_of(ctx, meeting) / node_members_of(ctx, meeting);
    return bytes_of_block(part(ctx, meeting, n), nodes);
  }
};

CHIME_DEVICE_OUT_OF_LINE Message block_of(const Context& ctx, Meeting meeting, NodeBlocks blocks,
                                          unsigned rank) {
  std::size_t first = rank * blocks.n, bytes = blocks.n;
  if (blocks.is_divided) {
    const unsigned members = node_members_of(ctx, meeting);
    const std::size_t part = NodeBlocks::part(ctx, meeting, blocks.n);
    const std::size_t end_of_part = (rank % members + 1) * part;
    const std::size_t end = end_of_part < blocks.n ? end_of_part : blocks.n;
    bytes = NodeBlocks::each(ctx, meeting, blocks.n);
    first = rank % members * part + rank / members * bytes;
    if (first >= end)
      bytes = 0;
    else if (end - first < bytes)
      bytes = end - first;
  }
  return {rank, blocks.dst + first, blocks.dst + first, bytes};
}

// The block of member `rank` to peers: data without an arrival to those that this PE maps, to
// others a whole message.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool send_block(const Context& ctx, Group g, Meeting meeting,
                                         NodeBlocks blocks, unsigned rank, Peers peers) {
  bool is_sent = true;
  unsigned to = 0;
  for (unsigned i = 0; (to = peer_at(ctx, meeting, peers, i)) != kNoPeer; ++i) {
    Message message = block_of(ctx, meeting, blocks, rank);
    message.rank = to;
    is_sent = send_data(ctx, g, meeting, Round::kPlain, message) && is_sent;
  }
  return is_sent;
}

// By all members of the group, which have sent data elsewhere: an arrival to those that are mapped.
template <class Group>
CHIME_DEVICE void send_arrivals_elsewhere(const Context& ctx, Group g, Meeting meeting) {
  g.sync();
  unsigned rank = 0;
  for (unsigned i = 0; g.is_leader(); ++i) {
    if ((rank = peer_at(ctx, meeting, Peers::kElsewhere, i)) == kNoPeer) break;
    send_arrival(ctx, meeting, Round::kPlain, rank, 0);
  }
}

// A round in which this PE's block goes to the members of its place, and no more.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool send_elsewhere(const Context& ctx, Group g, Meeting meeting,
                                             NodeBlocks blocks) {
  next_round(ctx, g, meeting);
  const bool is_sent =
      send_block(ctx, g, meeting, blocks, rank_of(ctx, meeting), Peers::kElsewhere);
  send_arrivals_elsewhere(ctx, g, meeting);
  return !g.any(!is_sent);
}

// Stores this PE's block, and each that comes from another node, to this node's other members.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool pass_on(const Context& ctx, Group g, Meeting meeting,
                                      NodeBlocks blocks) {
  bool failed = !send_block(ctx, g, meeting, blocks, rank_of(ctx, meeting), Peers::kHere);
  unsigned rank = 0;
  for (unsigned i = 0; (rank = peer_at(ctx, meeting, Peers::kElsewhere, i)) != kNoPeer; ++i) {
    if (g.is_leader()) failed = failed || !await_message(ctx, meeting, rank, 0);
    if (g.any(failed)) return false;
    failed = !send_block(ctx, g, meeting, blocks, rank, Peers::kHere);
  }
  return !g.any(failed);
}

// This PE's block of `dst` goes to all, and theirs come: in a round to the members of its place,
// and in one more to those of its node. Where these `may_read` their destinations until then, they
// say first that they have done so.
template <class Group>
CHIME_DEVICE bool spread_by_nodes(const Context& ctx, Group g, Meeting meeting, NodeBlocks blocks,
                                  bool may_read) {
  if (!send_elsewhere(ctx, g, meeting, blocks)) return false;
  if (may_read && !hear_from(ctx, g, meeting, Peers::kHere, kByNode)) return false;
  if (!pass_on(ctx, g, meeting, blocks)) return false;
  next_round(ctx, g, meeting);
  return hear_from(ctx, g, meeting, Peers::kHere, kByNode);
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_NODES_CUH_
