// Reductions as clang compiles them for the softgpu: one of each group and of three types. With all
// that reduce_test.cu has, compiling takes too long for every change.
#include "collectives/reductions.cuh"

namespace chime::tests {
namespace {

// About what words bring, about a slot of two members, and so that several blocks are cut.
constexpr std::size_t kSizes[] = {0, 1, 17, 641, 5000};
constexpr std::size_t kMost = 5000;

template <class Op, class T, class Group, class Apply>
void expect_reduced(Pe& pe, Apply apply) {
  Symmetric<T> src(kMost), dst(kMost);
  Private<int> failed(1);
  int round = 0;  // what `dst` has of the one before is wrong
  for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
    for (const std::size_t n : kSizes)
      for (const bool in_place : {false, true}) {
        ++round;
        src.write(brought_by<T>(pe.rank(), n, round));
        pe.barrier();
        if (rank_of(pe.rank(), pes) < 0) continue;
        pe.run(1, kGroupThreads<Group>, reduce_once<Op, T, Group>, pe.context(), team,
               in_place ? src.data() : dst.data(), static_cast<const T*>(src.data()), n,
               failed.data());
        ASSERT_EQ(0, failed.read()[0]);
        expect_same(expected<T>(pes, 0, n, round, apply), in_place ? src.read() : dst.read());
      }
  });
}

IN_EVERY_WORLD(FewReductions, BlocksSumHalvesInFloat) {
  world.spawn(1, [](Pe& pe) {
    expect_reduced<Sum, chime_half_t, Block>(pe, [](float a, float b) { return a + b; });
  });
}
IN_EVERY_WORLD(FewReductions, ThreadsFindTheLeastInt) {
  world.spawn(1, [](Pe& pe) {
    expect_reduced<Min, int, Thread>(pe, [](int a, int b) { return std::min(a, b); });
  });
}
IN_EVERY_WORLD(FewReductions, WarpsScatterSumsOfDoubles) {
  world.spawn(1, [](Pe& pe) {
    const std::size_t all = kMost * static_cast<std::size_t>(pe.size());
    Symmetric<double> src(all), dst(kMost);
    Private<int> failed(1);
    int round = 0;
    for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
      for (const std::size_t n : kSizes) {
        src.write(brought_by<double>(pe.rank(), n * pes.size(), ++round));
        pe.barrier();
        const int rank = rank_of(pe.rank(), pes);
        if (rank < 0) continue;
        pe.run(1, kGroupThreads<Warp>, scatter_once<Sum, double, Warp>, pe.context(), team,
               dst.data(), static_cast<const double*>(src.data()), n, failed.data());
        ASSERT_EQ(0, failed.read()[0]);
        expect_same(expected<double>(pes, static_cast<std::size_t>(rank) * n, n, round,
                                     [](double a, double b) { return a + b; }),
                    dst.read());
      }
    });
  });
}

}  // namespace
}  // namespace chime::tests
