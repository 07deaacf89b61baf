// Rounds in which each member of a team sends to each other one.
//
// In a turn the messages go to the receiver's scratch, whose halves alternate. A member in turn t
// has heard from all in turn t - 1, so all have read what they got in turn t - 2: a member sends in
// turn t - 1 only when its loads of turn t - 2 are done (end_turn). By doubling a member hears of
// most others from a third: what that one sent on came behind what it had heard.
#ifndef CHIME_DEVICE_COLL_EXCHANGE_CUH_
#define CHIME_DEVICE_COLL_EXCHANGE_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/context.h"
#include "chime/device/coll/doubling.cuh"
#include "chime/device/coll/lane.cuh"
#include "chime/device/coll/message.cuh"
#include "chime/device/coll/words.cuh"
#include "chime/device/copy.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/order.cuh"

namespace chime::detail {

// By the leader, when the group has met: takes the next number, which all messages of the round
// have.
//
// In a plain round others store to a `dst`, which the program then reads. They may store there
// again when they hear of this PE's next call, which arrivals release, but words do not. So before
// a turn of words that is done here: the fence pairs with have_come() on the others.
CHIME_DEVICE void begin_round(const Context& ctx, Meeting meeting, Round round) {
  abi::SyncArea& area = meeting.area(ctx);
  area.round = number_after(ctx, meeting, area.round);
  if (round != Round::kPlain) area.turn = number_after(ctx, meeting, area.turn);
  if (round == Round::kTurnOfWords && area.owes_fence != 0) order::puts_visible();
  if (round != Round::kTurn) area.owes_fence = round == Round::kPlain;
}

// The i-th other member, from the next one on: not all send to the same one at a time.
CHIME_DEVICE unsigned other_member(const Context& ctx, Meeting meeting, unsigned i) {
  const unsigned rank = rank_of(ctx, meeting) + 1 + i, size = size_of(ctx, meeting);
  return rank < size ? rank : rank - size;
}

inline constexpr std::size_t kNoEnd = ~std::size_t{0};
// What each member from `lowest` on gets of an array that ends after `end` bytes: at most `each`
// from rank * stride on.
struct Pieces {
  const std::byte* src;
  std::size_t stride, each, end;
  unsigned lowest = 0;

  CHIME_DEVICE std::size_t bytes(unsigned rank) const {
    const std::size_t first = rank * stride;
    if (first >= end || rank < lowest) return 0;
    return end - first < each ? end - first : each;
  }
  CHIME_DEVICE Message prepare(unsigned rank, void* dst) const {
    return {rank, dst, src + rank * stride, bytes(rank)};
  }
};
// The bytes of a block, where so many blocks have n: whole packs. So the last ones may be shorter
// or empty.
CHIME_DEVICE std::size_t bytes_of_block(std::size_t n, unsigned blocks) {
  const std::size_t share = (n + blocks - 1) / blocks;
  return (share + kWidest - 1) / kWidest * kWidest;
}
CHIME_DEVICE std::size_t bytes_of_block(const Context& ctx, Meeting meeting, std::size_t n) {
  return bytes_of_block(n, size_of(ctx, meeting));
}

// A block for each.
CHIME_DEVICE Pieces blocks_of(const Context& ctx, Meeting meeting, const std::byte* src,
                              std::size_t n) {
  const std::size_t each = bytes_of_block(ctx, meeting, n);
  return {src, each, each, n};
}

// All of it to each.
CHIME_DEVICE Pieces whole(const void* src, std::size_t bytes) {
  return {static_cast<const std::byte*>(src), 0, bytes, bytes};
}

// Sends each other member its piece. `parts` has `bytes(rank)` of one, and `prepare(rank, dst)`, by
// which all members of the group make its message ready: the next one may overwrite its source.
template <class Group, class Parts>
CHIME_DEVICE bool send_pieces(const Context& ctx, Group g, Meeting meeting, Round round, void* dst,
                              const Parts& parts) {
  const unsigned others = size_of(ctx, meeting) - 1;
  bool is_sent = true;
  for (unsigned i = 0; i < others; ++i) {
    const unsigned rank = other_member(ctx, meeting, i);
    is_sent = send_data(ctx, g, meeting, round, parts.prepare(rank, dst)) && is_sent;
  }
  g.sync();
  for (unsigned i = 0; g.is_leader() && i < others; ++i) {
    const unsigned rank = other_member(ctx, meeting, i);
    send_arrival(ctx, meeting, round, rank, parts.bytes(rank));
  }
  return is_sent;
}

// By the leader: until each other member has sent `bytes`.
CHIME_DEVICE bool await_all(const Context& ctx, Meeting meeting, Round round, std::size_t bytes) {
  const unsigned words = round == Round::kTurnOfWords ? words_for(ctx, meeting, bytes) : 0;
  for (unsigned i = size_of(ctx, meeting) - 1; i-- > 0;) {
    if (!await_message(ctx, meeting, other_member(ctx, meeting, i), words)) return false;
  }
  return true;
}

// What came in a turn of words, to where this PE alone writes.
template <class Group>
CHIME_DEVICE void unpack_all(const Context& ctx, Group g, Meeting meeting, std::size_t bytes) {
  const std::uint32_t number = number_in_words(meeting.area(ctx).turn);
  for (unsigned rank = 0; rank < size_of(ctx, meeting); ++rank) {
    if (rank == rank_of(ctx, meeting)) continue;
    unpack(g, unpacked_of(ctx, meeting, rank), words_of(ctx, meeting, rank),
           slot_of(ctx, meeting, rank), bytes, number);
  }
  g.sync();
}

// A round: each other member gets its piece, and sends `bytes`, or an arrival alone. In a plain
// round `dst` is where the pieces go at the receivers. In a turn arrived() says where the bytes
// are; when they were read, the caller ends the turn. False if it failed; the failure is recorded.
template <class Group, class Parts>
CHIME_DEVICE bool exchange(const Context& ctx, Group g, Meeting meeting, Round round, void* dst,
                           Parts parts, std::size_t bytes) {
  if (g.is_leader()) begin_round(ctx, meeting, round);
  g.sync();
  if (round != Round::kPlain) {
    dst = slot_of(ctx, meeting, rank_of(ctx, meeting));
    if (clears_words(meeting.area(ctx).turn)) {
      clear_words(ctx, g, meeting);
      g.sync();
    }
  }
  bool goes_on = send_pieces(ctx, g, meeting, round, dst, parts);
  if (g.is_leader()) goes_on = goes_on && await_all(ctx, meeting, round, bytes);
  if (g.any(!goes_on)) return false;
  if (go_as_words(ctx, meeting, round, bytes)) unpack_all(ctx, g, meeting, bytes);
  return true;
}
template <class Group, class Parts>
CHIME_DEVICE bool take_turn(const Context& ctx, Group g, Meeting meeting, Round round,
                            const Parts& parts, std::size_t bytes) {
  return exchange(ctx, g, meeting, round, nullptr, parts, bytes);
}

// A round without data: what this PE has read before it, others may write after it. The release is
// the arrival's (store_arrival(), or the request's), the acquire that of await_message(). Out of
// line: it costs a call that has more rounds no registers.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool hear_all(const Context& ctx, Group g, Meeting meeting) {
  if (is_doubled(ctx, meeting, 0)) {
    if (g.is_leader()) begin_round(ctx, meeting, Round::kPlain);
    g.sync();
    return double_all(ctx, g, meeting, 0);
  }
  return exchange(ctx, g, meeting, Round::kPlain, nullptr, whole(nullptr, 0), 0);
}

// What came in a turn: that of member r is at first + r * stride.
struct Arrived {
  const std::byte* first;
  std::size_t stride;

  CHIME_DEVICE const std::byte* of(unsigned rank) const { return first + rank * stride; }
};
CHIME_DEVICE Arrived arrived(const Context& ctx, Meeting meeting, Round round, std::size_t bytes) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  if (go_as_words(ctx, meeting, round, bytes)) {
    return {unpacked_of(ctx, meeting, 0), team.words_bytes / 2};
  }
  return {slot_of(ctx, meeting, 0), team.slot_bytes};
}

// A turn by doubling: `bytes` at `src` go to all, which may change at once.
// REQUIRES: is_doubled(ctx, meeting, bytes). The turn ends as a plain one, Round::kTurn.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool take_doubling_turn(const Context& ctx, Group g, Meeting meeting,
                                                 const void* src, std::size_t bytes) {
  if (g.is_leader()) begin_round(ctx, meeting, Round::kTurn);
  g.sync();
  if (clears_words(meeting.area(ctx).turn)) clear_words(ctx, g, meeting);
  const unsigned stride = doubling_stride(bytes);
  std::byte* const mine = slot_of(ctx, meeting, 0) + std::size_t{rank_of(ctx, meeting)} * stride;
  copy_from_peer(g, mine, src, bytes);
  g.sync();
  return double_all(ctx, g, meeting, stride);
}
CHIME_DEVICE Arrived arrived_by_doubling(const Context& ctx, Meeting meeting, std::size_t bytes) {
  return {slot_of(ctx, meeting, 0), doubling_stride(bytes)};
}

// A turn in which each member's word `call` of its area comes to all, with an arrival behind what
// the program has stored there before. The turn ends as a plain one, Round::kTurn.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool tell_all(const Context& ctx, Group g, Meeting meeting) {
  const std::uint64_t& mine = meeting.area(ctx).call;  // NICs read the heap, and not registers
  if (is_doubled(ctx, meeting, sizeof(mine)))
    return take_doubling_turn(ctx, g, meeting, &mine, sizeof(mine));
  return take_turn(ctx, g, meeting, Round::kTurn, whole(&mine, sizeof(mine)), sizeof(mine));
}
CHIME_DEVICE std::uint64_t told_by(const Context& ctx, Meeting meeting, unsigned rank) {
  constexpr std::size_t kBytes = sizeof(std::uint64_t);
  const Arrived all = is_doubled(ctx, meeting, kBytes)
                          ? arrived_by_doubling(ctx, meeting, kBytes)
                          : arrived(ctx, meeting, Round::kTurn, kBytes);
  std::uint64_t word = 0;
  memcpy(&word, all.of(rank), kBytes);
  return word;
}

// By all members of the group, which have read what came: then slots may be written again. Words of
// the next turn order nothing, so the fence does. It pairs with have_come() on the PE that writes a
// slot next: that PE stores only when it has seen the words. What words brought, no other PE
// writes. Where some senders have requests in place of words, only these write their slots, behind
// a request of this PE; but by doubling others do.
template <class Group>
CHIME_DEVICE void end_turn(const Context& ctx, Group g, Meeting meeting, Round round,
                           std::size_t bytes) {
  const bool came_to_slots = !go_as_words(ctx, meeting, round, bytes);
  g.sync();
  if (!g.is_leader()) return;
  if (came_to_slots || team_of(ctx, meeting.handle).doubles != 0) order::puts_visible();
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_EXCHANGE_CUH_
