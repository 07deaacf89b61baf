// Collectives whose members bring different amounts: first all hear how much, then the data go to
// where they belong.
#ifndef CHIME_DEVICE_COLL_UNEVEN_CUH_
#define CHIME_DEVICE_COLL_UNEVEN_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/device/coll/collective.cuh"
#include "chime/device/coll/exchange.cuh"
#include "chime/device/coll/move.cuh"

namespace chime {
namespace detail {

// A turn of one number for each member, and what came.
inline constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);
template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool exchange_numbers(const Context& ctx, Group g, Meeting meeting,
                                               const std::uint64_t* numbers, bool to_all_the_same) {
  const std::size_t stride = to_all_the_same ? 0 : kNumberBytes;
  return take_turn(
      ctx, g, meeting, Round::kTurnOfWords,
      Pieces{reinterpret_cast<const std::byte*>(numbers), stride, kNumberBytes, kNoEnd},
      kNumberBytes);
}
CHIME_DEVICE Arrived numbers_arrived(const Context& ctx, Meeting meeting) {
  return arrived(ctx, meeting, Round::kTurnOfWords, kNumberBytes);
}
CHIME_DEVICE std::uint64_t number_from(const Arrived& all, unsigned rank) {
  std::uint64_t number = 0;
  memcpy(&number, __builtin_assume_aligned(all.of(rank), kNumberBytes), kNumberBytes);
  return number;
}
template <class Group>
CHIME_DEVICE void end_numbers(const Context& ctx, Group g, Meeting meeting) {
  end_turn(ctx, g, meeting, Round::kTurnOfWords, kNumberBytes);
}

// Instead of a number: the member refuses the call.
inline constexpr std::uint64_t kRefuses = ~std::uint64_t{0};

CHIME_DEVICE_OUT_OF_LINE void record_refused_part(const Context& ctx, Meeting meeting, int pe,
                                                  Fault fault, const void* address,
                                                  std::size_t bytes) {
  record(ctx, {.status = CHIMEX_ERR_INVALID,
               .operation = meeting.operation(),
               .pe = pe,
               .fault = fault,
               .address = address,
               .expected = bytes});
}

// Whether no other member's number `refuses`. If one does, that is recorded.
template <class Group, class Refuses>
CHIME_DEVICE bool all_take_part(const Context& ctx, Group g, Meeting meeting, Refuses refuses) {
  const Arrived numbers = numbers_arrived(ctx, meeting);
  bool refused = false;
  for (unsigned rank = g.rank(); rank < size_of(ctx, meeting); rank += g.size()) {
    if (rank == rank_of(ctx, meeting) || !refuses(number_from(numbers, rank))) continue;
    record_refused_part(ctx, meeting, pe_of(team_of(ctx, meeting.handle), rank), Fault::kRefused,
                        nullptr, static_cast<std::size_t>(meeting.handle));
    refused = true;
  }
  return !g.any(refused);
}

// ---- collect ------------------------------------------------------------------------------------

// A member's number is its bytes, and this bit where its `dst` is no place for those of others. It
// refuses if any are brought.
inline constexpr std::uint64_t kHasNoPlace = std::uint64_t{1} << 63;
CHIME_DEVICE std::uint64_t number_to_tell(const Context& ctx, Meeting meeting, const void* dst,
                                          std::size_t bytes) {
  const std::size_t least = bytes == 0 ? 1 : bytes;
  return bytes | (may_receive(ctx, dst, least, team_of(ctx, meeting.handle)) ? 0 : kHasNoPlace);
}

// The bytes that the members bring: all ranks below this one, and all members. A sum that is too
// large is SIZE_MAX.
struct Concatenation {
  std::size_t before = 0, total = 0;
};
CHIME_DEVICE Concatenation concatenation(const Context& ctx, Meeting meeting, std::size_t mine) {
  const Arrived others = numbers_arrived(ctx, meeting);
  const unsigned me = rank_of(ctx, meeting);
  Concatenation all;
  for (unsigned rank = 0; rank < size_of(ctx, meeting); ++rank) {
    if (rank == me) all.before = all.total;
    const std::size_t bytes = rank == me ? mine : number_from(others, rank) & ~kHasNoPlace;
    all.total = bytes > SIZE_MAX - all.total ? SIZE_MAX : all.total + bytes;
  }
  return all;
}

CHIME_DEVICE_OUT_OF_LINE bool has_room_for_all(const Context& ctx, bool is_leader, Meeting meeting,
                                               void* dst, std::size_t total) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const bool has_place = !has_too_many_bytes({dst, total, 1}) && may_receive(ctx, dst, total, team);
  if (has_place && is_right_array(ctx, dst, total)) return true;
  const Fault fault = has_place ? Fault::kBounds : Fault::kPlace;
  if (is_leader) record_refused_part(ctx, meeting, ctx.pe.my_pe, fault, dst, total);
  return false;
}

// All members hear of a source that is wrong and of a `dst` that is not symmetric, and know the
// same total, so they refuse alike.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE int collect_all(const Context& ctx, Group g, Meeting meeting, void* dst,
                                         const void* src, std::size_t bytes) {
  std::uint64_t& mine = meeting.area(ctx).call;  // NICs read the heap, and not registers
  const bool is_right = is_right_array(ctx, src, bytes);
  if (g.is_leader()) {
    mine = is_right ? number_to_tell(ctx, meeting, dst, bytes) : kRefuses;
    if (!is_right) record_refused_part(ctx, meeting, ctx.pe.my_pe, Fault::kBounds, src, bytes);
  }
  if (!exchange_numbers(ctx, g, meeting, &mine, true)) return CHIMEX_ERR_ABORTED;
  const Concatenation all = concatenation(ctx, meeting, bytes);
  const auto refuses = [&](std::uint64_t number) {
    return number == kRefuses || (all.total != 0 && (number & kHasNoPlace) != 0);
  };
  const bool has_room = !is_right || has_room_for_all(ctx, g.is_leader(), meeting, dst, all.total);
  const bool all_take = all_take_part(ctx, g, meeting, refuses) && is_right;
  end_numbers(ctx, g, meeting);
  if (!all_take || !has_room) return CHIMEX_ERR_INVALID;
  std::byte* const block = static_cast<std::byte*>(dst) + all.before;
  copy_own(g, block, src, bytes);
  const bool is_well = exchange(ctx, g, meeting, Round::kPlain, block, whole(src, bytes), 0);
  return is_well ? CHIMEX_OK : CHIMEX_ERR_ABORTED;
}

// ---- alltoallv ----------------------------------------------------------------------------------

// A call's arrays; counts and offsets are in elements.
struct Uneven {
  std::byte* dst;
  const std::byte* src;
  std::size_t element;  // bytes
  std::size_t* dst_counts;
  const std::size_t *dst_offsets, *src_counts, *src_offsets;

  // SIZE_MAX: too many.
  CHIME_DEVICE std::size_t bytes(std::size_t n) const { return CHIME_BYTES(n, element); }
};

// What goes to member `rank`, and to where in its `dst`.
struct UnevenPieces {
  Uneven all;
  Arrived offsets;  // at the members

  CHIME_DEVICE std::size_t bytes(unsigned rank) const { return all.bytes(all.src_counts[rank]); }
  CHIME_DEVICE Message prepare(unsigned rank, void* dst) const {
    return {rank, static_cast<std::byte*>(dst) + all.bytes(number_from(offsets, rank)),
            all.src + all.bytes(all.src_offsets[rank]), bytes(rank)};
  }
};

// Whether `n` elements from `offset` on are in an array that `is_right(array, bytes)`.
template <class IsRight>
CHIME_DEVICE bool is_inside(const Uneven& all, std::size_t offset, std::size_t n,
                            IsRight is_right) {
  const std::size_t before = all.bytes(offset), bytes = all.bytes(n);
  return before != SIZE_MAX && bytes <= SIZE_MAX - before && is_right(before, bytes);
}

// Whether this PE can do its part with member `rank`, which sends `n` elements. If not, that is
// recorded.
CHIME_DEVICE bool takes_part(const Context& ctx, Meeting meeting, const Uneven& all, unsigned rank,
                             std::size_t n) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const auto refuse = [&](int pe, Fault fault, const std::byte* array, std::size_t offset,
                          std::size_t count) {
    const std::size_t before = all.bytes(offset);
    const std::byte* const place = before == SIZE_MAX ? array : array + before;
    record_refused_part(ctx, meeting, pe, fault, place, all.bytes(count));
    return false;
  };
  const std::size_t to = all.dst_offsets[rank], from = all.src_offsets[rank];
  const int me = ctx.pe.my_pe;
  if (n > all.dst_counts[rank]) return refuse(pe_of(team, rank), Fault::kRoom, all.dst, to, n);
  const bool has_place = is_inside(all, to, n, [&](std::size_t before, std::size_t bytes) {
    return may_receive(ctx, all.dst + before, bytes, team);
  });
  if (!has_place) return refuse(me, Fault::kPlace, all.dst, to, n);
  const auto is_right = [&](const std::byte* array, std::size_t offset, std::size_t count) {
    return is_inside(all, offset, count,
                     [&](std::size_t before, std::size_t bytes) {
                       return is_right_array(ctx, array + before, bytes);
                     }) ||
           refuse(me, Fault::kBounds, array, offset, count);
  };
  return is_right(all.dst, to, n) && is_right(all.src, from, all.src_counts[rank]);
}

// How many elements member `rank` sends, of `counts` that came from the others.
CHIME_DEVICE std::size_t count_of(const Context& ctx, Meeting meeting, const Uneven& all,
                                  const Arrived& counts, unsigned rank) {
  return rank == rank_of(ctx, meeting) ? all.src_counts[rank] : number_from(counts, rank);
}

// False if this PE refuses, which is recorded.
template <class Group>
CHIME_DEVICE bool can_take(const Context& ctx, Group g, Meeting meeting, const Uneven& all,
                           const Arrived& counts) {
  bool refuses = false;
  for (unsigned rank = g.rank(); rank < size_of(ctx, meeting); rank += g.size()) {
    const std::size_t n = count_of(ctx, meeting, all, counts, rank);
    refuses = !takes_part(ctx, meeting, all, rank, n) || refuses;
  }
  return !g.any(refuses);
}
template <class Group>
CHIME_DEVICE void store_counts(const Context& ctx, Group g, Meeting meeting, const Uneven& all,
                               const Arrived& counts) {
  for (unsigned rank = g.rank(); rank < size_of(ctx, meeting); rank += g.size()) {
    all.dst_counts[rank] = count_of(ctx, meeting, all, counts, rank);
  }
}

// A turn of counts, a turn of offsets, then the data. A member that refuses says so instead of its
// offset, so all end the call.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE int exchange_uneven(const Context& ctx, Group g, Meeting meeting,
                                             Uneven all) {
  if (!exchange_numbers(ctx, g, meeting, all.src_counts, false)) return CHIMEX_ERR_ABORTED;
  const Arrived counts = numbers_arrived(ctx, meeting);
  const bool takes = can_take(ctx, g, meeting, all, counts);
  end_numbers(ctx, g, meeting);
  std::uint64_t& refusal = meeting.area(ctx).call;
  if (g.is_leader()) refusal = kRefuses;
  if (!exchange_numbers(ctx, g, meeting, takes ? all.dst_offsets : &refusal, !takes)) {
    return CHIMEX_ERR_ABORTED;
  }
  const auto refuses = [](std::uint64_t number) { return number == kRefuses; };
  const bool all_take = all_take_part(ctx, g, meeting, refuses) && takes;
  int status = CHIMEX_ERR_INVALID;
  if (all_take) {
    // No member writes over the counts before it has its data, which this PE sends below.
    store_counts(ctx, g, meeting, all, counts);
    const unsigned me = rank_of(ctx, meeting);
    copy_own(g, all.dst + all.bytes(all.dst_offsets[me]), all.src + all.bytes(all.src_offsets[me]),
             all.bytes(all.src_counts[me]));
    const UnevenPieces pieces = {all, numbers_arrived(ctx, meeting)};
    const bool is_well = exchange(ctx, g, meeting, Round::kPlain, all.dst, pieces, 0);
    status = is_well ? CHIMEX_OK : CHIMEX_ERR_ABORTED;
  }
  end_numbers(ctx, g, meeting);
  return status;
}

// As collective(), of an act that says its status: INVALID if a member refuses the call. The team
// goes on then, so its words are settled.
template <class Group, class Act>
CHIME_DEVICE int uneven_collective(const Context& ctx, Group g, const Collective& call, Act act) {
  bool is_refused = false;
  const int status = collective(ctx, g, call, [&](Meeting meeting) {
    const int result = act(meeting);
    is_refused = result == CHIMEX_ERR_INVALID;
    if (is_refused && g.is_leader()) settle_words(ctx);
    return result == CHIMEX_OK;
  });
  return is_refused ? CHIMEX_ERR_INVALID : status;
}

}  // namespace detail

// `bytes` of each member, which may be different ones, in the order of ranks. Returns a
// chimex_status.
template <class Group>
CHIME_DEVICE int collectmem(const Context& ctx, Group g, chime_team_t team, void* dst,
                            const void* src, std::size_t bytes) {
  return detail::uneven_collective(ctx, g,
                                   {.team = team,
                                    .operation = Operation::kCollect,
                                    .dst = dst,
                                    .src = src,
                                    .bytes = bytes,
                                    .dst_bytes = 0,
                                    .src_bytes = 0,
                                    .is_uneven = true},
                                   [&](detail::Meeting meeting) {
                                     return detail::collect_all(ctx, g, meeting, dst, src, bytes);
                                   });
}

// Elements of `element` bytes: src_counts[r] from src_offsets[r] on to member r, which puts them
// where its dst_offsets says. dst_counts[r]: the most that may come from member r, then how many
// came. All arrays have a number for each member. After a refusal dst_counts is as it was.
template <class Group>
CHIME_DEVICE int alltoallvmem(const Context& ctx, Group g, chime_team_t team, void* dst,
                              std::size_t* dst_counts, const std::size_t* dst_offsets,
                              const void* src, const std::size_t* src_counts,
                              const std::size_t* src_offsets, std::size_t element = 1) {
  const detail::Uneven all = {static_cast<std::byte*>(dst),
                              static_cast<const std::byte*>(src),
                              element,
                              dst_counts,
                              dst_offsets,
                              src_counts,
                              src_offsets};
  return detail::uneven_collective(
      ctx, g,
      {.team = team,
       .operation = Operation::kAlltoallv,
       .dst = dst,
       .src = src,
       .bytes = SIZE_MAX,                         // of a message: any number
       .dst_bytes = element == 0 ? SIZE_MAX : 0,  // refused
       .src_bytes = 0,
       .variant = static_cast<unsigned>(element),
       .is_uneven = true},
      [&](detail::Meeting meeting) { return detail::exchange_uneven(ctx, g, meeting, all); });
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_UNEVEN_CUH_
