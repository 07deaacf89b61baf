// alltoalls: elements that lie apart. A member packs what it sends, by slots, and the receiver puts
// the elements to where they belong.
#ifndef CHIME_DEVICE_COLL_STRIDED_CUH_
#define CHIME_DEVICE_COLL_STRIDED_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/device/coll/collective.cuh"
#include "chime/device/coll/exchange.cuh"

namespace chime {
namespace detail {

// Elements in memory: element i is at first + i * stride.
struct Elements {
  std::byte* first;
  std::ptrdiff_t stride;  // bytes

  CHIME_DEVICE std::byte* at(std::size_t i) const {
    return first + static_cast<std::ptrdiff_t>(i) * stride;
  }
  CHIME_DEVICE Elements from(std::size_t i) const { return {at(i), stride}; }
};

template <class Group, class T>
CHIME_DEVICE void copy_elements_of(Group g, Elements dst, Elements src, std::size_t n, T) {
  for (std::size_t i = g.rank(); i < n; i += g.size()) {
    memcpy(__builtin_assume_aligned(dst.at(i), alignof(T)),
           __builtin_assume_aligned(src.at(i), alignof(T)), sizeof(T));
  }
}
// An element has 1, 2, 4, 8 or 16 bytes. One of 16 may lie at a multiple of 8.
template <class Group>
CHIME_DEVICE_OUT_OF_LINE void copy_elements(Group g, Elements dst, Elements src, std::size_t n,
                                            std::size_t element) {
  struct Pair {
    std::uint64_t words[2];
  };
  if (element == 1) return copy_elements_of(g, dst, src, n, std::uint8_t{});
  if (element == 2) return copy_elements_of(g, dst, src, n, std::uint16_t{});
  if (element == 4) return copy_elements_of(g, dst, src, n, std::uint32_t{});
  if (element == 8) return copy_elements_of(g, dst, src, n, std::uint64_t{});
  copy_elements_of(g, dst, src, n, Pair{});
}

// A call's arrays: n elements of each member for each.
struct Strided {
  Elements dst, src;
  std::size_t n, element;
};

// Elements `begin` to begin + count - 1 of what each member gets. Those that lie apart are packed
// into this PE's own slot, which no other PE uses, for one member after another: so a slot holds a
// whole chunk, in teams of any size.
template <class Group>
class StridedPieces {
 public:
  CHIME_DEVICE StridedPieces(const Context& ctx, Group g, Meeting meeting, const Strided& all,
                             std::size_t begin, std::size_t count)
      : ctx_(ctx), g_(g), meeting_(meeting), all_(all), begin_(begin), count_(count) {}

  CHIME_DEVICE std::size_t bytes(unsigned) const { return count_ * all_.element; }

  CHIME_DEVICE Message prepare(unsigned rank, void* dst) const {
    const Elements src = all_.src.from(rank * all_.n + begin_);
    if (src.stride == static_cast<std::ptrdiff_t>(all_.element))
      return {rank, dst, src.first, bytes(rank)};
    // A request may still read what was packed for the member before. If it has failed, that is
    // recorded, and this call fails at its end.
    complete_sources(ctx_, g_, meeting_, bytes(rank));
    g_.sync();
    std::byte* const packed = slot_of(ctx_, meeting_, rank_of(ctx_, meeting_));
    copy_elements(g_, {packed, static_cast<std::ptrdiff_t>(all_.element)}, src, count_,
                  all_.element);
    g_.sync();
    return {rank, dst, packed, bytes(rank)};
  }

 private:
  const Context& ctx_;
  const Group g_;
  const Meeting meeting_;
  const Strided& all_;
  const std::size_t begin_, count_;
};

template <class Group>
CHIME_DEVICE_OUT_OF_LINE bool exchange_strided(const Context& ctx, Group g, Meeting meeting,
                                               Strided all) {
  constexpr Round kRound = Round::kTurn;
  const unsigned me = rank_of(ctx, meeting);
  const std::size_t each = team_of(ctx, meeting.handle).slot_bytes / all.element;
  std::size_t begin = 0;
  do {  // also once for n = 0: all come
    const std::size_t count = all.n - begin < each ? all.n - begin : each;
    const std::size_t bytes = count * all.element;
    if (!take_turn(ctx, g, meeting, kRound,
                   StridedPieces<Group>(ctx, g, meeting, all, begin, count), bytes)) {
      return false;
    }
    const Arrived others = arrived(ctx, meeting, kRound, bytes);
    for (unsigned rank = 0; rank < size_of(ctx, meeting); ++rank) {
      const std::size_t at = rank * all.n + begin;
      const Elements came = {const_cast<std::byte*>(others.of(rank)),
                             static_cast<std::ptrdiff_t>(all.element)};
      copy_elements(g, all.dst.from(at), rank == me ? all.src.from(at) : came, count, all.element);
    }
    end_turn(ctx, g, meeting, kRound, bytes);
    begin += each;
  } while (begin < all.n);
  return true;
}

CHIME_DEVICE constexpr bool is_element(std::size_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

// The bytes of an array of `count` elements that are `stride` apart; SIZE_MAX: there is none.
CHIME_DEVICE std::size_t bytes_of_strided(std::size_t count, std::ptrdiff_t stride,
                                          std::size_t element) {
  if (stride < 1 || !is_element(element)) return SIZE_MAX;
  if (count == 0) return 0;
  const std::size_t apart = CHIME_BYTES(static_cast<std::size_t>(stride), element);
  const std::size_t before = CHIME_BYTES(count - 1, apart);
  return before > SIZE_MAX - element ? SIZE_MAX : before + element;
}

}  // namespace detail

// n elements of `element` bytes (1, 2, 4, 8 or 16) from each member to each; element i of an array
// is at i times its stride, which is at least 1. Returns a chimex_status.
template <class Group>
CHIME_DEVICE int alltoallsmem(const Context& ctx, Group g, chime_team_t team, void* dst,
                              const void* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                              std::size_t n, std::size_t element = 1) {
  const std::size_t all_n = detail::bytes_of_all(ctx, team, n);
  const auto apart = [&](std::ptrdiff_t stride) {  // of strides that are refused, too
    return static_cast<std::ptrdiff_t>(static_cast<std::size_t>(stride) * element);
  };
  const detail::Strided all = {
      {static_cast<std::byte*>(dst), apart(dst_stride)},
      {const_cast<std::byte*>(static_cast<const std::byte*>(src)), apart(src_stride)},
      n,
      element};
  return detail::collective(
      ctx, g,
      {.team = team,
       .operation = Operation::kAlltoalls,
       .dst = dst,
       .src = src,
       .bytes = element == 0 ? 0 : CHIME_BYTES(n, element),
       .dst_bytes = detail::bytes_of_strided(all_n, dst_stride, element),
       .src_bytes = detail::bytes_of_strided(all_n, src_stride, element),
       .variant = static_cast<unsigned>(element)},
      [&](detail::Meeting meeting) { return detail::exchange_strided(ctx, g, meeting, all); });
}

}  // namespace chime

#endif  // CHIME_DEVICE_COLL_STRIDED_CUH_
