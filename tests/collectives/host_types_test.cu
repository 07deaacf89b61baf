// Collectives of the types that only host code has, by the host and on streams: long double and
// complex numbers, of teams of every shape.
#include <array>
#include <cmath>
#include <cstring>

#include "chime/complex.h"
#include "chime/device/coll/reduce.cuh"
#include "chime/device/coll/scan.cuh"
#include "collectives/reductions.cuh"

namespace chime::tests {
namespace {

using Complexf = std::complex<float>;
using Complexd = std::complex<double>;

// About what words bring, about a slot, and several of those.
constexpr std::size_t kSizes[] = {0, 1, 5, 321, 1501};
constexpr std::size_t kMost = 1501;

// No double holds them, nor their sums: 61 bits before the point, and some behind it.
template <class T>
T value(int pe, std::size_t i, int round) {
  return std::ldexp(1.0L, 60) + brought<int>(pe, i, round) / 8.0L;
}
template <>
Complexf value(int pe, std::size_t i, int round) {
  return {brought<float>(pe, i, round), brought<float>(pe + 100, i, round)};
}
template <>
Complexd value(int pe, std::size_t i, int round) {
  return {brought<double>(pe, i, round), brought<double>(pe + 100, i, round)};
}

template <class T>
std::vector<T> values(int pe, std::size_t count, int round) {
  std::vector<T> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(value<T>(pe, i, round));
  return all;
}

// Elements `first` to first + n - 1 of the first `members` of a team, combined.
template <class T, class Apply>
std::vector<T> combined(const std::vector<int>& pes, std::size_t members, std::size_t first,
                        std::size_t n, int round, Apply apply) {
  std::vector<T> all;
  for (std::size_t i = first; i < first + n; ++i) {
    std::vector<T> of_all;
    for (std::size_t rank = 0; rank < members; ++rank)
      of_all.push_back(value<T>(pes[rank], i, round));
    all.push_back(of_all.empty() ? T{} : in_a_tree(of_all, apply));
  }
  return all;
}

// By names, because each is a function of its own.
template <class T>
struct Calls {
  using Call = int (*)(chime_team_t, T*, const T*, std::size_t);
  using OnStream = int (*)(chime_team_t, T*, const T*, std::size_t, chimex_stream_t);
  Call call;
  OnStream on_stream;
};
#define CALLS_OF(TYPE, OPERATION) \
  { chime_##TYPE##_##OPERATION, chimex_##TYPE##_##OPERATION##_on_stream }

// `expected(pes, n, rank, round)` is what the member gets of `sources(members, n)` elements that
// each brings.
template <class T, class Sources, class Expected>
void expect_results(Pe& pe, const char* what, Calls<T> calls, Sources sources, Expected expected) {
  SCOPED_TRACE(what);
  Symmetric<T> src(kMost * static_cast<std::size_t>(pe.size())), dst(kMost);
  exec::Stream stream{};
  ASSERT_EQ(CHIMEX_OK, exec::stream_create(&stream));
  int round = 0;
  for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
    const int rank = rank_of(pe.rank(), pes);
    for (const std::size_t n : kSizes)
      for (const bool in_place : {false, true}) {
        const bool on_stream = ++round % 2 != 0;
        T* const to = in_place ? src.data() : dst.data();
        src.write(values<T>(pe.rank(), sources(pes.size(), n), round));
        pe.barrier();
        if (rank < 0) continue;
        const int status =
            on_stream ? calls.on_stream(team, to, src, n, stream) : calls.call(team, to, src, n);
        ASSERT_EQ(CHIMEX_OK, status) << chimex_last_error();
        ASSERT_EQ(CHIMEX_OK, exec::stream_synchronize(stream));
        std::vector<T> got = in_place ? src.read() : dst.read();
        got.resize(n);
        ASSERT_EQ(expected(pes, n, static_cast<std::size_t>(rank), round), got)
            << n << " elements, " << (in_place ? "in place" : "apart");
      }
  });
  ASSERT_EQ(CHIMEX_OK, exec::stream_destroy(stream));
}

template <class T, class Apply>
void expect_reduced(Pe& pe, const char* what, Calls<T> calls, Apply apply) {
  expect_results<T>(
      pe, what, calls, [](std::size_t, std::size_t n) { return n; },
      [&](const std::vector<int>& pes, std::size_t n, std::size_t, int round) {
        return combined<T>(pes, pes.size(), 0, n, round, apply);
      });
}
template <class T, class Apply>
void expect_scattered(Pe& pe, const char* what, Calls<T> calls, Apply apply) {
  expect_results<T>(
      pe, what, calls, [](std::size_t members, std::size_t n) { return members * n; },
      [&](const std::vector<int>& pes, std::size_t n, std::size_t rank, int round) {
        return combined<T>(pes, pes.size(), rank * n, n, round, apply);
      });
}
template <class T>
void expect_scanned(Pe& pe, const char* what, Calls<T> calls, bool with_own) {
  expect_results<T>(
      pe, what, calls, [](std::size_t, std::size_t n) { return n; },
      [&](const std::vector<int>& pes, std::size_t n, std::size_t rank, int round) {
        return combined<T>(pes, rank + (with_own ? 1 : 0), 0, n, round,
                           [](T a, T b) { return a + b; });
      });
}

template <class T>
T sum_of(T a, T b) {
  return a + b;
}
// By parts: a library's product may look for infinities first.
template <class T>
T product_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
}

IN_EVERY_WORLD(LongDouble, SumsAndProductsAreThoseOfTheHost) {
  world.spawn(1, [](Pe& pe) {
    using T = long double;
    expect_reduced<T>(pe, "sum", CALLS_OF(longdouble, sum_reduce), sum_of<T>);
    expect_reduced<T>(pe, "product", CALLS_OF(longdouble, prod_reduce), product_of<T>);
    expect_scattered<T>(pe, "scattered", CALLS_OF(longdouble, sum_reducescatter), sum_of<T>);
  });
}
template <class T>
void expect_reduced_by_kernels(Pe& pe) {
  Symmetric<T> src(kMost), dst(kMost);
  Private<int> failed(1);
  int round = 0;  // what `dst` has of the one before is wrong
  for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
    for (const std::size_t n : kSizes) {
      src.write(values<T>(pe.rank(), n, ++round));
      pe.barrier();
      if (rank_of(pe.rank(), pes) < 0) continue;
      pe.run(1, kGroupThreads<Block>, reduce_once<Sum, T, Block>, pe.context(), team, dst.data(),
             static_cast<const T*>(src.data()), n, failed.data());
      ASSERT_EQ(0, failed.read()[0]);
      std::vector<T> got = dst.read();
      got.resize(n);
      ASSERT_EQ(combined<T>(pes, pes.size(), 0, n, round, sum_of<T>), got) << n << " elements";
    }
  });
}
// GPUs have no such kernels, so there is nothing to see.
IN_EVERY_WORLD(LongDouble, OfKernelsOfTheCpuIsThatOfTheHost) {
  world.spawn(1, []<class P>(P& pe) {
    using T = std::conditional_t<exec::kHasLongDouble, long double, P>;
    if constexpr (exec::kHasLongDouble) expect_reduced_by_kernels<T>(pe);
  });
}

IN_EVERY_WORLD(LongDouble, TheLeastAndTheLargestAreFound) {
  world.spawn(1, [](Pe& pe) {
    using T = long double;
    const auto least = [](T a, T b) { return std::min(a, b); };
    const auto largest = [](T a, T b) { return std::max(a, b); };
    expect_reduced<T>(pe, "least", CALLS_OF(longdouble, min_reduce), least);
    expect_reduced<T>(pe, "largest", CALLS_OF(longdouble, max_reduce), largest);
    expect_scattered<T>(pe, "least", CALLS_OF(longdouble, min_reducescatter), least);
    expect_scattered<T>(pe, "largest", CALLS_OF(longdouble, max_reducescatter), largest);
  });
}
IN_EVERY_WORLD(LongDouble, IsNoNumberWhereOneIsNone) {
  world.spawn(1, [](Pe& pe) {
    const auto n = static_cast<std::size_t>(pe.size());
    Symmetric<long double> src(n), dst(n);
    std::vector<long double> mine(n, static_cast<long double>(pe.rank()));
    mine[static_cast<std::size_t>(pe.rank())] = std::nanl("");
    src.write(mine);
    pe.barrier();
    for (const auto reduce : {chime_longdouble_min_reduce, chime_longdouble_max_reduce,
                              chime_longdouble_sum_reduce, chime_longdouble_prod_reduce}) {
      dst.write(std::vector<long double>(n));
      pe.barrier();
      ASSERT_EQ(CHIMEX_OK, reduce(CHIME_TEAM_WORLD, dst, src, n)) << chimex_last_error();
      for (const long double result : dst.read()) EXPECT_TRUE(std::isnan(result));
      pe.barrier();
    }
  });
}

IN_EVERY_WORLD(Complex, SumsAndProductsAreThoseOfTheHost) {
  world.spawn(1, [](Pe& pe) {
    expect_reduced<Complexf>(pe, "sum", CALLS_OF(complexf, sum_reduce), sum_of<Complexf>);
    expect_reduced<Complexd>(pe, "sum", CALLS_OF(complexd, sum_reduce), sum_of<Complexd>);
    expect_reduced<Complexf>(pe, "product", CALLS_OF(complexf, prod_reduce), product_of<Complexf>);
    expect_reduced<Complexd>(pe, "product", CALLS_OF(complexd, prod_reduce), product_of<Complexd>);
  });
}
IN_EVERY_WORLD(Complex, SumsAndProductsAreScattered) {
  world.spawn(1, [](Pe& pe) {
    expect_scattered<Complexf>(pe, "sum", CALLS_OF(complexf, sum_reducescatter), sum_of<Complexf>);
    expect_scattered<Complexd>(pe, "product", CALLS_OF(complexd, prod_reducescatter),
                               product_of<Complexd>);
  });
}

IN_EVERY_WORLD(HostTypes, AreScanned) {
  world.spawn(1, [](Pe& pe) {
    expect_scanned<long double>(pe, "inscan", CALLS_OF(longdouble, sum_inscan), true);
    expect_scanned<long double>(pe, "exscan", CALLS_OF(longdouble, sum_exscan), false);
    expect_scanned<Complexf>(pe, "inscan", CALLS_OF(complexf, sum_inscan), true);
    expect_scanned<Complexd>(pe, "exscan", CALLS_OF(complexd, sum_exscan), false);
  });
}

// ---- Moves --------------------------------------------------------------------------------------

// dst = element i of each member from `first(member)` on, n of each.
template <class T, class First>
std::vector<T> gathered(int members, std::size_t n, First first) {
  std::vector<T> all;
  for (int member = 0; member < members; ++member)
    for (std::size_t i = 0; i < n; ++i) all.push_back(value<T>(member, first(member) + i, 0));
  return all;
}

template <class T>
void expect_moved(Symmetric<T>& dst, const std::vector<T>& expected, int status) {
  EXPECT_EQ(CHIMEX_OK, status) << chimex_last_error();
  std::vector<T> got = dst.read();
  got.resize(expected.size());
  EXPECT_EQ(expected, got);
}

#define EXPECT_ALL_MOVED(TYPE, T)                                                               \
  {                                                                                             \
    SCOPED_TRACE(#TYPE);                                                                        \
    constexpr std::size_t kEach = 7;                                                            \
    const int n = pe.size(), team = CHIME_TEAM_WORLD;                                           \
    const auto members = static_cast<std::size_t>(n), me = static_cast<std::size_t>(pe.rank()); \
    Symmetric<T> src(2 * kEach * members), dst(2 * kEach * members);                            \
    src.write(values<T>(pe.rank(), 2 * kEach * members, 0));                                    \
    pe.barrier();                                                                               \
    const auto from_0 = gathered<T>(n, kEach, [](int) { return 0; });                           \
    const auto for_me = gathered<T>(n, kEach, [&](int) { return me * kEach; });                 \
    expect_moved(dst, values<T>(n - 1, kEach, 0),                                               \
                 chime_##TYPE##_broadcast(team, dst, src, kEach, n - 1));                       \
    pe.barrier();                                                                               \
    expect_moved(dst, from_0, chime_##TYPE##_fcollect(team, dst, src, kEach));                  \
    pe.barrier();                                                                               \
    expect_moved(dst, from_0, chime_##TYPE##_collect(team, dst, src, kEach));                   \
    pe.barrier();                                                                               \
    expect_moved(dst, for_me, chime_##TYPE##_alltoall(team, dst, src, kEach));                  \
    pe.barrier();                                                                               \
    expect_moved(dst, for_me, chime_##TYPE##_alltoalls(team, dst, src, 1, 1, kEach));           \
    pe.barrier();                                                                               \
    Private<std::size_t> numbers(members), offsets(members), room(members);                     \
    std::vector<std::size_t> at;                                                                \
    for (std::size_t i = 0; i < members; ++i) at.push_back(i* kEach);                           \
    numbers.write(std::vector<std::size_t>(members, kEach));                                    \
    room.write(std::vector<std::size_t>(members, kEach));                                       \
    offsets.write(at);                                                                          \
    expect_moved(dst, for_me,                                                                   \
                 chimex_##TYPE##_alltoallv(team, dst, room.data(), offsets.data(), src,         \
                                           numbers.data(), offsets.data()));                    \
    pe.barrier();                                                                               \
  }

IN_EVERY_WORLD(HostTypes, AreMoved) {
  world.spawn(1, [](Pe& pe) {
    EXPECT_ALL_MOVED(longdouble, long double)
    EXPECT_ALL_MOVED(complexf, Complexf)
    EXPECT_ALL_MOVED(complexd, Complexd)
  });
}

// ---- What is refused ----------------------------------------------------------------------------

chime_collective_request reduction(int op, int element, int bytes, void* dst, const void* src) {
  chime_collective_request request = {};
  request.kind = CHIME_COLLECTIVE_REDUCE;
  request.team = CHIME_TEAM_WORLD;
  request.dst = dst;
  request.src = src;
  request.n = 1;
  request.bytes = bytes;
  request.op = op;
  request.element = element;
  return request;
}

IN_EVERY_WORLD(HostTypes, HaveNoOtherOperationsNorSizes) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<Complexd> src(1), dst(1);
    const std::array<std::array<int, 3>, 7> unknown = {
        {{CHIME_REDUCE_MIN, CHIME_ELEMENT_COMPLEX, 16},
         {CHIME_REDUCE_XOR, CHIME_ELEMENT_COMPLEX, 8},
         {CHIME_REDUCE_SUM, CHIME_ELEMENT_COMPLEX, 4},
         {CHIME_REDUCE_AND, CHIME_ELEMENT_LONG_DOUBLE, 16},
         {CHIME_REDUCE_SUM, CHIME_ELEMENT_LONG_DOUBLE, 8},
         {CHIME_REDUCE_SUM, CHIME_ELEMENT_FLOAT, 16},
         {CHIME_REDUCE_SUM, CHIME_ELEMENT_LONG_DOUBLE + 1, 8}}};
    for (const auto [op, element, bytes] : unknown) {
      const auto request = reduction(op, element, bytes, dst.data(), src.data());
      EXPECT_EQ(CHIMEX_ERR_INVALID, chime_host_collective(&request)) << op << " " << element;
      EXPECT_NE(nullptr, std::strstr(chimex_last_error(), "no such collective"));
    }
    pe.barrier();
  });
}

// Elements of 16 bytes by one operation, which are not alike.
IN_EVERY_WORLD(HostTypes, OfOneSizeAreToldApart) {
  world.spawn(2, [](Pe& pe) {
    const Made team(CHIME_TEAM_WORLD, {"whole", 0, 1, pe.size()});
    Symmetric<Complexd> complex(1), dst(1);
    auto* const number = reinterpret_cast<long double*>(complex.data());
    pe.barrier();
    const int status = pe.rank() == 0 ? chime_longdouble_sum_reduce(team, number, number, 1)
                                      : chime_complexd_sum_reduce(team, dst, complex, 1);
    EXPECT_EQ(CHIMEX_ERR_MISMATCH, status);
    EXPECT_NE(nullptr, std::strstr(chimex_last_error(), "makes another call"))
        << chimex_last_error();
    pe.barrier();
  });
}

}  // namespace
}  // namespace chime::tests
