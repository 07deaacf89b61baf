// Reductions of teams of every shape, by each group: every size about a slot's, in place, again and
// again, to the bit as a tree of the host combines them.
#include "collectives/reductions.cuh"

namespace chime::tests {
namespace {

constexpr int kRounds = 3;
// About what words bring, about a slot of two members (2560 bytes), and so that several blocks are
// cut, also with a rest of one element.
constexpr std::size_t kSizes[] = {0, 1, 3, 4, 5, 17, 320, 321, 641, 1281, 5000};

template <class Op, class T, class Apply>
void expect_reduced(Pe& pe, Apply apply) {
  const std::size_t most = 5000;
  Symmetric<T> src(most), dst(most);
  Private<int> failed(1);
  for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
    for_each_group([&]<class Group>(GroupTag<Group>) {
      for (const std::size_t n : kSizes)
        for (int round = 0; round < kRounds; ++round) {
          const bool in_place = round == 1;
          src.write(brought_by<T>(pe.rank(), n, round));
          pe.barrier();
          if (rank_of(pe.rank(), pes) < 0) continue;
          T* const to = in_place ? src.data() : dst.data();
          pe.run(1, kGroupThreads<Group>, reduce_once<Op, T, Group>, pe.context(), team, to,
                 static_cast<const T*>(src.data()), n, failed.data());
          ASSERT_EQ(0, failed.read()[0]);
          expect_same(expected<T>(pes, 0, n, round, apply), in_place ? src.read() : dst.read());
        }
    });
  });
}

IN_EVERY_WORLD(Reduce, SumsDoublesAsATree) {
  world.spawn(
      1, [](Pe& pe) { expect_reduced<Sum, double>(pe, [](double a, double b) { return a + b; }); });
}
IN_EVERY_WORLD(Reduce, FindsTheLeastInt) {
  world.spawn(
      1, [](Pe& pe) { expect_reduced<Min, int>(pe, [](int a, int b) { return std::min(a, b); }); });
}
IN_EVERY_WORLD(Reduce, SumsHalvesInFloat) {
  world.spawn(1, [](Pe& pe) {
    expect_reduced<Sum, chime_half_t>(pe, [](float a, float b) { return a + b; });
  });
}
IN_EVERY_WORLD(Reduce, CombinesBitsOfBytes) {
  world.spawn(1, [](Pe& pe) {
    expect_reduced<Xor, unsigned char>(
        pe, [](unsigned char a, unsigned char b) { return static_cast<unsigned char>(a ^ b); });
  });
}

IN_EVERY_WORLD(Reducescatter, GivesEachMemberItsBlock) {
  world.spawn(1, [](Pe& pe) {
    const std::size_t most = 1500;
    const std::size_t all = most * static_cast<std::size_t>(pe.size());
    Symmetric<float> near(all), dst(most);
    Private<float> own(all);
    Private<int> failed(1);
    for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
      for_each_group([&]<class Group>(GroupTag<Group>) {
        for (const std::size_t n : {0, 1, 5, 1000, 1500}) {
          float* const src = n == 1000 ? own.data() : near.data();
          const std::vector<float> values = brought_by<float>(pe.rank(), n * pes.size(), 0);
          exec::copy(src, values.data(), values.size() * sizeof(float));
          pe.barrier();
          const int rank = rank_of(pe.rank(), pes);
          if (rank < 0) continue;
          pe.run(1, kGroupThreads<Group>, scatter_once<Sum, float, Group>, pe.context(), team,
                 dst.data(), static_cast<const float*>(src), n, failed.data());
          ASSERT_EQ(0, failed.read()[0]);
          expect_same(expected<float>(pes, static_cast<std::size_t>(rank) * n, n, 0,
                                      [](float a, float b) { return a + b; }),
                      dst.read());
        }
      });
    });
  });
}

// Sources that need several turns: of the program's own memory, at other places on other members,
// at addresses that no long load takes; and results over sources. Nothing comes behind the results.
IN_EVERY_WORLD(Reduce, TakesLongSourcesWhereverTheyAre) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kMost = 3000, kMoved = 8, kBehind = 1500;
    const std::vector<float> untouched(kBehind, -1);
    const auto me = static_cast<std::size_t>(pe.rank());
    const auto sum = [](float a, float b) { return a + b; };
    Symmetric<float> near(kMost + kMoved), dst(kMost + kMoved + kBehind);
    Private<float> own(kMost);
    Private<int> failed(1);
    struct Case {
      const char* name;
      float *src, *dst;
    };
    for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
      const Case cases[] = {
          {"private on the last PE", pe.rank() == pe.size() - 1 ? own.data() : near.data(),
           dst.data()},
          {"private", own.data(), dst.data()},
          {"moved by ranks", near.data() + me % kMoved, dst.data()},
          {"moved by one", near.data() + 1, dst.data() + 1},
          {"in place", dst.data() + 4, dst.data() + 4},
          {"in place on the first PE", pe.rank() == 0 ? dst.data() + 4 : near.data(),
           dst.data() + 4},
      };
      for (const Case& each : cases) {
        SCOPED_TRACE(each.name);
        // With 141 elements, the last of eight members' blocks has one element.
        for (const std::size_t n : {141, 2000, 3000}) {
          const std::vector<float> values = brought_by<float>(pe.rank(), n, 0);
          exec::copy(each.src, values.data(), n * sizeof(float));
          exec::copy(each.dst + n, untouched.data(), kBehind * sizeof(float));
          pe.barrier();
          if (rank_of(pe.rank(), pes) < 0) continue;
          pe.run(1, kGroupThreads<Block>, reduce_once<Sum, float, Block>, pe.context(), team,
                 each.dst, static_cast<const float*>(each.src), n, failed.data());
          ASSERT_EQ(0, failed.read()[0]);
          std::vector<float> got(n), behind(kBehind);
          exec::copy(got.data(), each.dst, n * sizeof(float));
          exec::copy(behind.data(), each.dst + n, kBehind * sizeof(float));
          expect_same(expected<float>(pes, 0, n, 0, sum), got);
          expect_same(untouched, behind);
        }
      }
    });
  });
}
IN_EVERY_WORLD(Reducescatter, MayPutItsBlockIntoItsSource) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kEach = 1500;
    const std::size_t all = kEach * static_cast<std::size_t>(pe.size());
    Symmetric<float> src(all);
    Private<int> failed(1);
    for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
      for (int round = 0; round < 20; ++round) {
        const bool is_own = round % 4 == 0;  // the block is that of this PE: no other one loads it
        src.write(brought_by<float>(pe.rank(), all, round));
        pe.barrier();
        const int rank = rank_of(pe.rank(), pes);
        if (rank < 0) continue;
        const std::size_t at = is_own ? static_cast<std::size_t>(rank) * kEach : 0;
        pe.run(1, kGroupThreads<Block>, scatter_once<Sum, float, Block>, pe.context(), team,
               src.data() + at, static_cast<const float*>(src.data()), kEach, failed.data());
        ASSERT_EQ(0, failed.read()[0]);
        std::vector<float> got = src.read();
        got.erase(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(at));
        expect_same(expected<float>(pes, static_cast<std::size_t>(rank) * kEach, kEach, round,
                                    [](float a, float b) { return a + b; }),
                    got);
      }
    });
  });
}

// By the names, of the host and on a stream.
IN_EVERY_WORLD(Reduce, OfTheHostAndOnAStreamIsThatOfKernels) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<long> src(3000), dst(3000);
    exec::Stream stream{};
    ASSERT_EQ(CHIMEX_OK, exec::stream_create(&stream));
    for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
      for (const std::size_t n : {1, 40, 3000})
        for (const bool on_stream : {false, true}) {
          src.write(brought_by<long>(pe.rank(), n, 0));
          pe.barrier();
          if (rank_of(pe.rank(), pes) < 0) continue;
          const int status = on_stream ? chimex_long_max_reduce_on_stream(team, dst, src, n, stream)
                                       : chime_long_max_reduce(team, dst, src, n);
          ASSERT_EQ(CHIMEX_OK, status) << chimex_last_error();
          ASSERT_EQ(CHIMEX_OK, exec::stream_synchronize(stream));
          expect_same(expected<long>(pes, 0, n, 0, [](long a, long b) { return std::max(a, b); }),
                      dst.read());
        }
    });
    ASSERT_EQ(CHIMEX_OK, exec::stream_destroy(stream));
  });
}

}  // namespace
}  // namespace chime::tests
