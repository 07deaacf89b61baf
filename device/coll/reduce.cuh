// Reductions among the members of a team.
//
// A piece of each member's data goes to the member that combines it, into that PE's scratch: a
// member's slot there bounds the piece. What fits a slot goes to all, and each combines it for
// itself. More is cut into blocks of a slot's length for each member: the member of a block's
// number combines it, and puts the result to all.
//
// Only a Combine knows the type of the elements: `bytes()` of one, and
// `combine(dst, count, members, element)`, which makes `dst` of `element(rank, i)`, the address of
// member `rank`'s element i.
#ifndef CHIME_DEVICE_COLL_REDUCE_CUH_
#define CHIME_DEVICE_COLL_REDUCE_CUH_

#include <cstddef>

#include "chime/device/coll/combine.cuh"
#include "chime/device/coll/exchange.cuh"

namespace chime {
namespace detail {

// A call's arrays, without the type of their elements.
struct Reduction {
  std::byte* dst;
  const std::byte* src;
  std::size_t n;  // elements; of a reducescatter those of one member
};

// Elements first to first + count - 1 of an array.
struct Range {
  std::size_t first, count;
};

// Block `i` of the elements from `begin` to n - 1: at most `each` elements.
CHIME_DEVICE Range block_of(std::size_t begin, std::size_t n, std::size_t each, unsigned i) {
  const std::size_t first = begin + i * each;
  if (first >= n) return {n, 0};
  return {first, n - first < each ? n - first : each};
}

// dst = what the members have: this PE at `own`, the others in their slots. By all members of the
// group, which have all read their slots when it returns.
template <class Combine, class Group>
CHIME_DEVICE void combine_slots(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                std::byte* dst, const std::byte* own, std::size_t count) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const auto me = static_cast<unsigned>(team.my_rank);
  const std::byte* const slots = slot_of(ctx, meeting.handle, 0);
  const std::size_t bytes = slot_bytes(ctx, team);
  combine(g, dst, count, static_cast<unsigned>(team.size), [&](unsigned rank, std::size_t at) {
    return (rank == me ? own : slots + rank * bytes) + at;
  });
  g.sync();
}

// Elements of a slot.
template <class Combine>
CHIME_DEVICE std::size_t elements_of_slot(const Context& ctx, Meeting meeting, Combine combine) {
  return slot_bytes(ctx, team_of(ctx, meeting.handle)) / combine.bytes();
}

// All of it fits a slot.
template <class Combine, class Group>
CHIME_DEVICE bool reduce_short(const Context& ctx, Group g, Meeting meeting, Combine combine,
                               const Reduction& all) {
  const std::size_t bytes = all.n * combine.bytes();
  if (!take_turn(ctx, g, meeting, [&](unsigned) { return Piece{all.src, bytes}; })) return false;
  // In place, the source changes now.
  if (!complete_sources(ctx, g, meeting, bytes)) return false;
  combine_slots(ctx, g, meeting, combine, all.dst, all.src, all.n);
  return true;
}

// A block for each member, `each` elements long, from `begin` on. In place: the member that sends a
// result has got this PE's piece of it, so that the source of that piece may change.
template <class Combine, class Group>
CHIME_DEVICE bool reduce_blocks(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                const Reduction& all, std::size_t begin, std::size_t each) {
  const std::size_t bytes = combine.bytes();
  if (!take_turn(ctx, g, meeting, [&](unsigned rank) {
        const Range block = block_of(begin, all.n, each, rank);
        return Piece{all.src + block.first * bytes, block.count * bytes};
      })) {
    return false;
  }
  const auto me = static_cast<unsigned>(team_of(ctx, meeting.handle).my_rank);
  const Range mine = block_of(begin, all.n, each, me);
  std::byte* const result = all.dst + mine.first * bytes;
  combine_slots(ctx, g, meeting, combine, result, all.src + mine.first * bytes, mine.count);
  return exchange_with_all(ctx, g, meeting, begin_round, [&](unsigned rank) {
    return Message{rank, {result, result, mine.count * bytes, Until::kPosted}, false};
  });
}

template <class Combine, class Group>
CHIME_DEVICE bool reduce_all(const Context& ctx, Group g, Meeting meeting, Combine combine,
                             const Reduction& all) {
  const std::size_t each = elements_of_slot(ctx, meeting, combine);
  if (all.n <= each) return reduce_short(ctx, g, meeting, combine, all);
  const std::size_t step = each * static_cast<unsigned>(team_of(ctx, meeting.handle).size);
  for (std::size_t begin = 0; begin < all.n; begin += step) {
    if (!reduce_blocks(ctx, g, meeting, combine, all, begin, each)) return false;
  }
  return true;
}

// Member r gets elements r * n to r * n + n - 1.
template <class Combine, class Group>
CHIME_DEVICE bool reduce_and_scatter(const Context& ctx, Group g, Meeting meeting, Combine combine,
                                     const Reduction& all) {
  const auto me = static_cast<unsigned>(team_of(ctx, meeting.handle).my_rank);
  const std::size_t each = elements_of_slot(ctx, meeting, combine), bytes = combine.bytes();
  std::size_t begin = 0;
  do {  // also once for n = 0: all come
    const Range piece = block_of(begin, all.n, each, 0);
    const auto source = [&](unsigned rank) {
      return all.src + (rank * all.n + piece.first) * bytes;
    };
    if (!take_turn(ctx, g, meeting, [&](unsigned rank) {
          return Piece{source(rank), piece.count * bytes};
        })) {
      return false;
    }
    // In place, they may change now.
    if (!complete_sources(ctx, g, meeting, piece.count * bytes)) return false;
    combine_slots(ctx, g, meeting, combine, all.dst + piece.first * bytes, source(me), piece.count);
    begin += each;
  } while (begin < all.n);
  return true;
}

// Elements of a type by an operation.
template <class Op, class T>
struct CombineBy {
  CHIME_DEVICE static constexpr std::size_t bytes() { return sizeof(T); }

  template <class Group, class Element>
  CHIME_DEVICE void operator()(Group g, std::byte* dst, std::size_t count, unsigned members,
                               Element element) const {
    if (members == 2) return combine_two(g, dst, count, element(0, 0), element(1, 0));
    for (std::size_t i = g.rank(); i < count; i += g.size()) {
      reinterpret_cast<T*>(dst)[i] = combined<T, Op>(members, [&](unsigned rank) {
        return *reinterpret_cast<const T*>(element(rank, i * sizeof(T)));
      });
    }
  }

 private:
  // A loop that compilers make vectors of.
  template <class Group>
  CHIME_DEVICE static void combine_two(Group g, std::byte* dst, std::size_t count,
                                       const std::byte* first, const std::byte* second) {
    using A = typename Op::template In<T>;
    for (std::size_t i = g.rank(); i < count; i += g.size()) {
      const A a = static_cast<A>(reinterpret_cast<const T*>(first)[i]);
      const A b = static_cast<A>(reinterpret_cast<const T*>(second)[i]);
      reinterpret_cast<T*>(dst)[i] = static_cast<T>(Op::apply(a, b));
    }
  }
};

template <class Combine, class Group>
CHIME_DEVICE int reduce_by(const Context& ctx, Group g, chime_team_t team, Combine combine,
                           const Reduction& all) {
  const std::size_t bytes = CHIME_BYTES(all.n, combine.bytes());
  return collective(ctx, g, {team, Operation::kReduce, all.dst, all.src, bytes},
                    [&](Meeting meeting) { return reduce_all(ctx, g, meeting, combine, all); });
}
template <class Combine, class Group>
CHIME_DEVICE int reducescatter_by(const Context& ctx, Group g, chime_team_t team, Combine combine,
                                  const Reduction& all) {
  const std::size_t bytes = CHIME_BYTES(all.n, combine.bytes());
  const unsigned members = members_of(ctx, team);
  return collective(
      ctx, g, {team, Operation::kReducescatter, all.dst, all.src, bytes, 1, members},
      [&](Meeting meeting) { return reduce_and_scatter(ctx, g, meeting, combine, all); });
}

template <class T>
CHIME_DEVICE Reduction reduction_of(T* dst, const T* src, std::size_t n) {
  return {reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src), n};
}

}  // namespace detail

// dst[i] = the members' src[i], combined by Op, on all members, for i from 0 to n - 1. `dst` is
// symmetric; it may be `src`. Returns a chimex_status.
template <class Op, class T, class Group>
CHIME_DEVICE int reduce(const Context& ctx, Group g, chime_team_t team, T* dst, const T* src,
                        std::size_t n) {
  return detail::reduce_by(ctx, g, team, detail::CombineBy<Op, T>{},
                           detail::reduction_of(dst, src, n));
}

// dst[i] = the members' src[r * n + i], combined by Op, where the calling PE is member r.
template <class Op, class T, class Group>
CHIME_DEVICE int reducescatter(const Context& ctx, Group g, chime_team_t team, T* dst, const T* src,
                               std::size_t n) {
  return detail::reducescatter_by(ctx, g, team, detail::CombineBy<Op, T>{},
                                  detail::reduction_of(dst, src, n));
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_REDUCE_CUH_
