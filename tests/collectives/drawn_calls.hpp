// Calls of collectives that a seed draws, and what they ought to give: computed by the test alone.
//
// Some of a call is alike on all members (what is called, and how much), some is each member's own
// (where its source is, strides, and when it calls).
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <iterator>

#include "collectives/collectives.hpp"

namespace chime::tests {

constexpr int kMostPes = 8, kMostStride = 3;
constexpr std::size_t kRoom = 24576;  // bytes of an array of a call

enum Kind {
  kBroadcast,
  kFcollect,
  kCollect,
  kAlltoall,
  kAlltoalls,
  kAlltoallv,
  kSumOfDoubles,
  kXor,
  kLargestPair,
  kScatteredSum,
  kInscan,
  kExscan,
  kSync,
  kBarrier,
  kKinds
};
constexpr const char* kNames[] = {"broadcast", "fcollect", "collect",   "alltoall", "alltoalls",
                                  "alltoallv", "sum",      "xor",       "maxloc",   "reducescatter",
                                  "inscan",    "exscan",   "team_sync", "barrier"};
static_assert(std::size(kNames) == kKinds);

inline bool may_be_in_place(Kind kind) { return kind >= kSumOfDoubles && kind <= kExscan; }

// ---- What a seed draws --------------------------------------------------------------------------

// Numbers that depend on what they are drawn for, and on nothing else.
class Draws {
 public:
  Draws(std::initializer_list<int> what) {
    for (const int part : what)
      state_ = (state_ ^ static_cast<unsigned>(part)) * 0x9e3779b97f4a7c15;
  }
  // 0 to most.
  std::size_t upto(std::size_t most) { return next() % (most + 1); }
  int below(int bound) { return static_cast<int>(upto(static_cast<std::size_t>(bound) - 1)); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }
  std::uint64_t state_ = 0x2545f4914f6cdd1d;
};

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& all, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  all.insert(all.end(), bytes, bytes + sizeof(T));
}

// A call of a stream as all its members see it.
struct Drawn {
  Drawn(int seed, unsigned stream, unsigned call, int members)
      : where{seed, static_cast<int>(stream), static_cast<int>(call)}, n(members) {
    Draws draws{where[0], where[1], where[2]};
    kind = static_cast<Kind>(draws.below(kKinds));
    root = draws.below(n);
    element = draw_element(draws);
    const std::size_t most = kRoom / static_cast<std::size_t>(n) / element;
    count = draw_count(draws, most);
    dst_at = element * draws.upto(15 / element);
    for (auto& row : counts)
      for (std::size_t& one : row) one = draw_count(draws, most);
  }

  // Elements that member `from` brings, of an alltoallv for `to`.
  std::size_t brings(int from, int to = 0) const {
    const std::size_t own = counts[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    if (kind == kSync || kind == kBarrier) return 0;
    return kind == kCollect || kind == kAlltoallv ? own : count;
  }
  // An array has elements of so many members.
  int shares() const {
    return kind == kAlltoall || kind == kAlltoalls || kind == kScatteredSum ? n : 1;
  }

  std::array<int, 3> where;
  int n;
  Kind kind;
  int root;
  std::size_t element, count, dst_at;
  std::size_t counts[kMostPes][kMostPes];

 private:
  std::size_t draw_element(Draws& draws) const {
    if (kind == kXor) return 4;
    if (kind == kLargestPair) return 16;
    if (kind >= kSumOfDoubles && kind <= kExscan) return 8;
    if (kind == kAlltoalls) return std::size_t{1} << draws.upto(4);
    return kind == kAlltoallv ? 1 + draws.upto(11) : std::size_t{1} << draws.upto(3);
  }
  // None, what one word brings, what several do, about a slot, as many as there is room for.
  std::size_t draw_count(Draws& draws, std::size_t most) const {
    constexpr std::size_t kBytes[] = {0, 8, 8, 64, 64, 600, 600, kRoom};
    const std::size_t widest = kind == kAlltoalls ? most / kMostStride : most - kMostPes;
    return std::min(draws.upto(kBytes[draws.below(std::size(kBytes))] / element), widest);
  }
};

// What is a member's own.
struct Own {
  Own(const Drawn& call, int rank) {
    Draws draws{call.where[0], call.where[1], call.where[2], 1 + rank};
    in_place = may_be_in_place(call.kind) && draws.one_in(3);
    src_at = call.element * draws.upto(15 / call.element);
    dst_stride = call.kind == kAlltoalls ? 1 + draws.below(kMostStride) : 1;
    src_stride = call.kind == kAlltoalls ? 1 + draws.below(kMostStride) : 1;
    pauses = draws.one_in(3) ? static_cast<unsigned>(draws.upto(200)) : 0;
  }
  bool in_place;
  std::size_t src_at;
  int dst_stride, src_stride;
  unsigned pauses;
};

// Element i of what a member brings: numbers whose sums depend on the order, or any bytes.
inline Bytes element_of(const Drawn& call, int rank, std::size_t i) {
  Draws draws{call.where[0], call.where[1], call.where[2], 100 + rank, static_cast<int>(i)};
  Bytes bytes;
  const auto number = [&] { return static_cast<double>(draws.below(2048)) / 3 - 300; };
  if (call.kind == kLargestPair) {
    append(bytes, chimex_double2_t{static_cast<double>(draws.below(3)), number()});
  } else if (call.kind >= kSumOfDoubles && call.kind <= kExscan && call.kind != kXor) {
    append(bytes, number());
  } else {
    for (std::size_t at = 0; at < call.element; ++at)
      bytes.push_back(static_cast<std::byte>(draws.upto(255)));
  }
  return bytes;
}

// ---- What comes of it ---------------------------------------------------------------------------

template <class T>
T value_of(const Bytes& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}
// Element i of members first to first + count - 1, as a tree.
template <class T, class Apply>
Bytes in_order(const Drawn& call, int count, std::size_t i, Apply apply) {
  std::vector<T> values;
  for (int rank = 0; rank < count; ++rank) values.push_back(value_of<T>(element_of(call, rank, i)));
  Bytes bytes;
  append(bytes, values.empty() ? T{} : in_a_tree(values, apply));
  return bytes;
}
inline Bytes sum(const Drawn& call, int count, std::size_t i) {
  return in_order<double>(call, count, i, [](double a, double b) { return a + b; });
}
inline Bytes largest(const Drawn& call, std::size_t i) {
  return in_order<chimex_double2_t>(
      call, call.n, i, [](chimex_double2_t a, chimex_double2_t b) { return b.x > a.x ? b : a; });
}
inline Bytes exclusive_or(const Drawn& call, std::size_t i) {
  return in_order<std::uint32_t>(call, call.n, i,
                                 [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
}

// The places of an alltoallv's shares, in elements: at a source those for each member, one behind
// another; at a destination in reversed order, with room for one more.
inline std::size_t src_offset(const Drawn& call, int from, int to) {
  std::size_t at = 0;
  for (int other = 0; other < to; ++other) at += call.brings(from, other);
  return at;
}
inline std::size_t dst_offset(const Drawn& call, int from, int to) {
  std::size_t at = 0;
  for (int other = call.n - 1; other > from; --other) at += call.brings(other, to) + 1;
  return at;
}

// `put(place, bytes)`: element `place` of the destination of member `me`.
template <class Put>
void put_results(const Drawn& call, int me, int stride, Put put) {
  const std::size_t count = call.count, mine = static_cast<std::size_t>(me) * count;
  std::size_t at = 0;
  const auto put_from = [&](int rank, std::size_t first, std::size_t elements) {
    for (std::size_t i = 0; i < elements; ++i, ++at)
      put(at * static_cast<std::size_t>(stride), element_of(call, rank, first + i));
  };
  const auto put_each = [&](auto result) {
    for (std::size_t i = 0; i < count; ++i) put(i, result(i));
  };
  switch (call.kind) {
    case kBroadcast:
      return put_from(call.root, 0, count);
    case kFcollect:
    case kCollect:
      for (int rank = 0; rank < call.n; ++rank) put_from(rank, 0, call.brings(rank));
      return;
    case kAlltoall:
    case kAlltoalls:
      for (int rank = 0; rank < call.n; ++rank) put_from(rank, mine, count);
      return;
    case kAlltoallv:
      for (int rank = 0; rank < call.n; ++rank) {
        at = dst_offset(call, rank, me);
        put_from(rank, src_offset(call, rank, me), call.brings(rank, me));
      }
      return;
    case kSumOfDoubles:
      return put_each([&](std::size_t i) { return sum(call, call.n, i); });
    case kXor:
      return put_each([&](std::size_t i) { return exclusive_or(call, i); });
    case kLargestPair:
      return put_each([&](std::size_t i) { return largest(call, i); });
    case kScatteredSum:
      return put_each([&](std::size_t i) { return sum(call, call.n, mine + i); });
    case kInscan:
      return put_each([&](std::size_t i) { return sum(call, me + 1, i); });
    case kExscan:
      return put_each([&](std::size_t i) { return sum(call, me, i); });
    default:
      return;
  }
}

}  // namespace chime::tests
