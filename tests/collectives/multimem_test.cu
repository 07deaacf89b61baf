// Fcollects and reductions by multimem, where CHIME_COLL_<call>=multimem and the GPUs have it: the
// softgpu does. Each fact has the data that do not go so, too: odd addresses, sources
// that lie elsewhere on one member, teams that have not all PEs.
#include <cuda_runtime.h>

#include <cstdlib>

#include "chime/device/coll/move.cuh"
#include "collectives/reductions.cuh"
#include "support/schedule.hpp"

namespace chime::tests {
namespace {

// A multicast takes a GPU for each PE: processes choose theirs by their rank before chime_init, as
// GPU programs do.
[[maybe_unused]] const bool has_chosen = [] {
  const char* const pe = std::getenv("CHIME_RUN_PE");
  return pe != nullptr && cudaSetDevice(std::atoi(pe)) == cudaSuccess;
}();

constexpr std::size_t kMost = 5000;
constexpr std::size_t kSizes[] = {0, 1, 3, 17, 641, kMost};

CHIME_KERNEL void look_at_team(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                               unsigned* calls) {
  *calls = detail::team_of(context, team).by_multimem;
}

// Else the facts below would hold without multimem.
IN_EVERY_WORLD(Multimem, IsTakenByTeamsOfAllPes) {
  world.spawn(1, [](Pe& pe) {
    Private<unsigned> calls(1);
    for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
      if (rank_of(pe.rank(), pes) < 0) return;
      pe.run(1, 1, look_at_team, pe.context(), team, calls.data());
      const bool has_all = pes.size() == static_cast<std::size_t>(pe.size());
      const unsigned all = abi::kFcollectByMultimem | abi::kReduceByMultimem;
      EXPECT_EQ(has_all ? all : 0u, calls.read()[0]);
    });
  });
}

// ---- Reductions --------------------------------------------------------------------------------

// By the host, whose kernels have all types and operations in one.
template <class T>
using HostReduce = int (*)(chime_team_t, T*, const T*, std::size_t);

template <class T, class Apply>
void expect_reduced(Pe& pe, const char* name, HostReduce<T> reduce, Apply apply) {
  SCOPED_TRACE(name);
  Symmetric<T> src(kMost), dst(kMost);
  int round = 0;
  for (const std::size_t n : {std::size_t{1}, std::size_t{641}})
    for (const bool in_place : {false, true}) {
      src.write(brought_by<T>(pe.rank(), n, ++round));
      dst.write(std::vector<T>(kMost, T{1}));
      pe.barrier();
      ASSERT_EQ(CHIMEX_OK,
                reduce(CHIME_TEAM_WORLD, in_place ? src.data() : dst.data(), src.data(), n))
          << chimex_last_error();
      std::vector<int> pes;
      for (int i = 0; i < pe.size(); ++i) pes.push_back(i);
      expect_same(expected<T>(pes, 0, n, round, apply), in_place ? src.read() : dst.read());
      pe.barrier();
    }
}

#define CHIME_EXPECT_ORDERED(NAME, T)                                                     \
  expect_reduced<T>(pe, #NAME " min", chime_##NAME##_min_reduce,                          \
                    [](T a, T b) { return std::min(a, b); });                             \
  expect_reduced<T>(pe, #NAME " max", chime_##NAME##_max_reduce,                          \
                    [](T a, T b) { return std::max(a, b); });                             \
  expect_reduced<T>(pe, #NAME " sum", chime_##NAME##_sum_reduce, [](T a, T b) {           \
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b)); \
  });                                                                                     \
  expect_reduced<T>(pe, #NAME " prod", chime_##NAME##_prod_reduce, [](T a, T b) {         \
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)); \
  })
#define CHIME_EXPECT_BITS(NAME, T)                                                                \
  expect_reduced<T>(pe, #NAME " and", chime_##NAME##_and_reduce, [](T a, T b) { return a & b; }); \
  expect_reduced<T>(pe, #NAME " or", chime_##NAME##_or_reduce, [](T a, T b) { return a | b; });   \
  expect_reduced<T>(pe, #NAME " xor", chime_##NAME##_xor_reduce, [](T a, T b) { return a ^ b; })

IN_EVERY_WORLD(Multimem, CombinesIntegersAsTheHostDoes) {
  world.spawn(1, [](Pe& pe) {
    CHIME_EXPECT_ORDERED(int32, std::int32_t);
    CHIME_EXPECT_ORDERED(uint32, std::uint32_t);
    CHIME_EXPECT_ORDERED(int64, std::int64_t);
    CHIME_EXPECT_ORDERED(uint64, std::uint64_t);
    CHIME_EXPECT_BITS(uint32, std::uint32_t);
    CHIME_EXPECT_BITS(uint64, std::uint64_t);
  });
}
#undef CHIME_EXPECT_BITS
#undef CHIME_EXPECT_ORDERED

// All sizes, teams and places of sources, by a block.
IN_EVERY_WORLD(Multimem, CombinesWhereverSourcesAre) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kMoved = 8;
    Symmetric<std::uint32_t> near(kMost + kMoved), dst(kMost + kMoved);
    Private<std::uint32_t> own(kMost);
    Private<int> failed(1);
    struct Case {
      const char* name;
      std::uint32_t *src, *dst;
    };
    const bool is_last = pe.rank() == pe.size() - 1;
    const Case cases[] = {
        {"at the same place", near.data(), dst.data()},
        {"in place", dst.data() + 1, dst.data() + 1},
        {"moved on the last PE", near.data() + (is_last ? 1 : 0), dst.data()},
        {"private on the last PE", is_last ? own.data() : near.data(), dst.data() + 3},
    };
    int round = 0;
    for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
      for (const Case& each : cases) {
        SCOPED_TRACE(each.name);
        for (const std::size_t n : kSizes) {
          const auto values = brought_by<std::uint32_t>(pe.rank(), n, ++round);
          exec::copy(each.src, values.data(), n * sizeof(std::uint32_t));
          pe.barrier();
          if (rank_of(pe.rank(), pes) < 0) continue;
          pe.run(1, kGroupThreads<Block>, reduce_once<Sum, std::uint32_t, Block>, pe.context(),
                 team, each.dst, static_cast<const std::uint32_t*>(each.src), n, failed.data());
          ASSERT_EQ(0, failed.read()[0]);
          std::vector<std::uint32_t> got(n);
          exec::copy(got.data(), each.dst, n * sizeof(std::uint32_t));
          expect_same(expected<std::uint32_t>(
                          pes, 0, n, round, [](std::uint32_t a, std::uint32_t b) { return a + b; }),
                      got);
        }
      }
    });
  });
}

// ---- Data as they are --------------------------------------------------------------------------

CHIME_KERNEL void gather_once(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                              std::byte* dst, const std::byte* src, std::size_t bytes,
                              int* failed) {
  const Block g{};
  const int status = fcollectmem(context, g, team, dst, src, bytes);
  if (g.is_leader() && status != CHIMEX_OK) *failed = status;
}

// At all distances from alignment, with bytes before and behind that stay as they are.
IN_EVERY_WORLD(Multimem, BringsBytesToEachMember) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kBytes = 3001, kEdge = 32;
    const auto pes_in_all = static_cast<std::size_t>(pe.size());
    Symmetric<std::uint8_t> dst(kBytes * pes_in_all + 2 * kEdge);
    Private<std::uint8_t> src(kBytes + kEdge);
    Private<int> failed(1);
    int round = 0;
    for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
      for (const std::size_t bytes :
           {std::size_t{0}, std::size_t{4}, std::size_t{21}, std::size_t{3000}, kBytes})
        for (const auto& [to, from] : {std::pair{0, 0}, {4, 12}, {8, 8}, {1, 1}, {0, 2}}) {
          ++round;
          std::vector<std::uint8_t> before(dst.count(), 0xee);
          dst.write(before);
          std::vector<std::uint8_t> mine(static_cast<std::size_t>(from), 0);
          for (const std::uint8_t byte : brought_by<std::uint8_t>(pe.rank(), bytes, round))
            mine.push_back(byte);
          src.write(mine);
          pe.barrier();
          if (rank_of(pe.rank(), pes) < 0) continue;
          pe.run(1, kGroupThreads<Block>, gather_once, pe.context(), team,
                 reinterpret_cast<std::byte*>(dst.data() + kEdge + to),
                 reinterpret_cast<const std::byte*>(src.data() + from), bytes, failed.data());
          ASSERT_EQ(0, failed.read()[0]);
          auto at = before.begin() + static_cast<std::ptrdiff_t>(kEdge) + to;
          for (const int theirs : pes) {
            const auto block = brought_by<std::uint8_t>(theirs, bytes, round);
            at = std::copy(block.begin(), block.end(), at);
          }
          ASSERT_EQ(before, dst.read()) << bytes << " bytes, to " << to << ", from " << from;
        }
    });
  });
}

// ---- Order -------------------------------------------------------------------------------------

constexpr unsigned kCalls = 6, kWords = 40;

CHIME_DEVICE std::uint32_t word_of(int pe, unsigned call, unsigned i) {
  return (static_cast<std::uint32_t>(pe) + 1) * 100000 + call * 1000 + i;
}

struct Arrays {
  std::uint32_t *src, *sums, *all;  // `sums` and `all`: two of each, in turns
};

// Calls one after another, whose sources change as soon as a call has returned.
CHIME_KERNEL void call_again_and_again(CHIME_GRID_CONSTANT const Context context, Arrays arrays,
                                       unsigned* wrong) {
  const Block g{};
  const int n = team_n_pes(context, CHIME_TEAM_WORLD), me = my_pe(context);
  for (unsigned call = 0; call < kCalls; ++call) {
    const unsigned half = call % 2;
    std::uint32_t* const sums = arrays.sums + half * kWords;
    std::uint32_t* const all = arrays.all + half * kWords * static_cast<unsigned>(n);
    for (unsigned i = g.rank(); i < kWords; i += g.size()) arrays.src[i] = word_of(me, call, i);
    reduce<Sum>(context, g, CHIME_TEAM_WORLD, sums, arrays.src, kWords);
    fcollectmem(context, g, CHIME_TEAM_WORLD, all, arrays.src, kWords * sizeof(*all));
    for (unsigned i = g.rank(); i < kWords; i += g.size()) {
      std::uint32_t sum = 0;
      for (int pe = 0; pe < n; ++pe) {
        sum += word_of(pe, call, i);
        if (all[static_cast<unsigned>(pe) * kWords + i] != word_of(pe, call, i))
          exec::atomic_add(wrong + 1, 1u);
      }
      if (sums[i] != sum) exec::atomic_add(wrong, 1u);
    }
    g.sync();
  }
}

IN_EVERY_WORLD(Multimem, IsOrderedInWeakMemory) {
  world.spawn(1, [](Pe& pe) {
    const auto n = static_cast<std::size_t>(pe.size());
    Symmetric<std::uint32_t> src(kWords), sums(2 * kWords), all(2 * kWords * n);
    Private<unsigned> wrong(2);
    for_each_seed(pe, [&](int) {
      wrong.write(std::vector<unsigned>(2));
      pe.barrier();
      pe.run(1, kGroupThreads<Block>, call_again_and_again, pe.context(),
             Arrays{src.data(), sums.data(), all.data()}, wrong.data());
      EXPECT_EQ((std::vector<unsigned>{0, 0}), wrong.read()) << "words of reductions, fcollects";
    });
  });
}

}  // namespace
}  // namespace chime::tests
