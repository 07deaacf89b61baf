// Barrier and sync of teams of every shape, by each group, on streams and by the host; in several
// lanes and teams at once; and a team's members as kernels see them.
#include "chime/device/coll/team.cuh"
#include "chime/device/rma.cuh"
#include "support/typed.hpp"
#include "teams.hpp"

namespace chime::tests {
namespace {

constexpr int kRounds = 8;

template <class Group>
inline constexpr unsigned kThreads = 1;
template <>
inline constexpr unsigned kThreads<Warp> = 32;
template <>
inline constexpr unsigned kThreads<Block> = 70;

// Every member of the group writes the round's number into its own slot on every PE of the team,
// all meet, then it checks all slots here.
template <class Group>
CHIME_KERNEL void meet(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                       std::uint64_t* slots, std::uint64_t* wrong) {
  Group group{};
  const int me = team_my_pe(context, team), n = team_n_pes(context, team);
  const auto width = static_cast<std::uint64_t>(group.size());
  const std::uint64_t mine = static_cast<std::uint64_t>(me) * width + group.rank();
  std::uint64_t missed = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    for (int rank = 0; rank < n; ++rank)
      p(context, slots + mine, round, team_translate_pe(context, team, rank, CHIME_TEAM_WORLD));
    missed += team_barrier(context, group, team) != CHIMEX_OK;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n) * width; ++i)
      missed += exec::ld(slots + i) != round;
    missed += team_sync(context, group, team) != CHIMEX_OK;
  }
  if (missed != 0) exec::atomic_add(wrong, missed);
}

IN_EVERY_WORLD(TeamBarrier, CompletesPutsOfAllMembersAndWaitsForThemAlone) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> slots(std::size_t(pe.size()) * 70);
    Private<std::uint64_t> wrong(1);
    for (const Shape& shape : shapes_of(pe.size())) {
      const Made team(CHIME_TEAM_WORLD, shape);
      for_each_group([&]<class Group>(GroupTag<Group>) {
        slots.fill(0);
        pe.barrier();
        if (team.has_me())
          pe.run(1, kThreads<Group>, meet<Group>, pe.context(), team, slots.data(), wrong.data());
        EXPECT_EQ(0u, wrong.read()[0]) << shape.name;
        pe.barrier();
      });
    }
  });
}

CHIME_KERNEL void ask(CHIME_GRID_CONSTANT const Context context, chime_team_t team, int n,
                      int* answers) {
  answers[0] = team_my_pe(context, team);
  answers[1] = team_n_pes(context, team);
  answers[2] = team_lane(context, team, 1);
  for (int pe = 0; pe < n; ++pe) {
    answers[3 + pe] = team_translate_pe(context, CHIME_TEAM_WORLD, pe, team);
    answers[3 + n + pe] = team_translate_pe(context, team, pe, CHIME_TEAM_WORLD);
  }
}

IN_EVERY_WORLD(TeamInAKernel, HasTheMembersThatItWasMadeOf) {
  world.spawn(1, [](Pe& pe) {
    const int n = pe.size();
    for (const Shape& shape : shapes_of(n)) {
      const Made team(CHIME_TEAM_WORLD, shape);
      const std::vector<int> pes = shape.pes();
      EXPECT_EQ(rank_of(pe.rank(), pes) >= 0, team.has_me()) << shape.name;
      if (!team.has_me()) continue;
      std::vector<int> expected = {rank_of(pe.rank(), pes), static_cast<int>(pes.size()),
                                   team | 1 << 12};
      for (int each = 0; each < n; ++each) expected.push_back(rank_of(each, pes));
      for (std::size_t rank = 0; rank < std::size_t(n); ++rank)
        expected.push_back(rank < pes.size() ? pes[rank] : -1);
      Private<int> answers(expected.size());
      pe.run(1, 1, ask, pe.context(), team, n, answers.data());
      EXPECT_EQ(expected, answers.read()) << shape.name;
    }
  });
}

// ---- Several at once ----------------------------------------------------------------------------

// Block b meets in a lane that is b lanes further on each PE: the same lane by different blocks.
CHIME_KERNEL void meet_in_lanes(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                                std::uint64_t* slots, std::uint64_t* wrong) {
  const int me = team_my_pe(context, team), n = team_n_pes(context, team);
  const auto lanes = static_cast<int>(exec::grid_blocks());
  const int lane = (static_cast<int>(exec::block_rank()) + me) % lanes;
  const chime_team_t handle = team_lane(context, team, lane);
  std::uint64_t* const places = slots + lane * n;
  std::uint64_t missed = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    if (exec::thread_rank() == 0) {
      for (int rank = 0; rank < n; ++rank)
        p(context, places + me, round, team_translate_pe(context, team, rank, CHIME_TEAM_WORLD));
    }
    missed += team_barrier(context, Block{}, handle) != CHIMEX_OK;
    if (exec::thread_rank() == 0) {
      for (int rank = 0; rank < n; ++rank) missed += exec::ld(places + rank) != round;
    }
    missed += team_sync(context, Block{}, handle) != CHIMEX_OK;
  }
  if (missed != 0) exec::atomic_add(wrong, missed);
}

IN_EVERY_WORLD(TeamLanes, MeetAtOnceFromAnyBlocks) {
  world.spawn(1, [](Pe& pe) {
    constexpr unsigned kLanes = 4;
    Symmetric<std::uint64_t> slots(std::size_t(pe.size()) * kLanes);
    Private<std::uint64_t> wrong(1);
    for (const Shape& shape : shapes_of(pe.size())) {
      const Made team(CHIME_TEAM_WORLD, shape);
      slots.fill(0);
      pe.barrier();
      if (team.has_me())
        pe.run_together(kLanes, 32, meet_in_lanes, pe.context(), team, slots.data(), wrong.data());
      EXPECT_EQ(0u, wrong.read()[0]) << shape.name;
      pe.barrier();
    }
  });
}

CHIME_KERNEL void meet_one_by_one(CHIME_GRID_CONSTANT const Context context, chime_team_t first,
                                  chime_team_t second, std::uint64_t* wrong) {
  std::uint64_t missed = 0;
  for (int round = 0; round < kRounds; ++round) {
    missed += team_sync(context, Block{}, first) != CHIMEX_OK;
    missed += team_sync(context, Block{}, second) != CHIMEX_OK;
  }
  if (missed != 0) exec::atomic_add(wrong, missed);
}

// Rows and columns of two, each PE in one of each; then a team of a team.
IN_EVERY_WORLD(TeamsThatOverlap, MeetInTurn) {
  world.spawn(2, [](Pe& pe) {
    chime_team_t x = CHIME_TEAM_INVALID, y = CHIME_TEAM_INVALID;
    ASSERT_EQ(CHIMEX_OK, chime_team_split_2d(CHIME_TEAM_WORLD, 2, nullptr, 0, &x, nullptr, 0, &y));
    const Made row(x), column(y);
    const int n = pe.size(), me = pe.rank();
    EXPECT_EQ(chime_team_my_pe(row), me % 2);
    EXPECT_EQ(chime_team_n_pes(row), n - me / 2 * 2 < 2 ? 1 : 2);
    EXPECT_EQ(chime_team_my_pe(column), me / 2);
    EXPECT_EQ(chime_team_n_pes(column), (n - me % 2 + 1) / 2);
    Private<std::uint64_t> wrong(1);
    pe.run(1, 32, meet_one_by_one, pe.context(), row, column, wrong.data());
    const Made nested(column,
                      {"nested", chime_team_n_pes(column) - 1, -1, chime_team_n_pes(column)});
    EXPECT_EQ(chime_team_translate_pe(nested, 0, column), chime_team_n_pes(column) - 1);
    pe.run(1, 32, meet_one_by_one, pe.context(), nested, row, wrong.data());
    EXPECT_EQ(0u, wrong.read()[0]);
    pe.barrier();
  });
}

// The host meets in lane 1, on its own and on a stream, while a kernel meets in lane 0.
IN_EVERY_WORLD(TeamHost, MeetsBesideAKernelInAnotherLane) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> slots(std::size_t(pe.size()) * 70);
    Private<std::uint64_t> wrong(1);
    const Made team(CHIME_TEAM_WORLD, {"reversed", pe.size() - 1, -1, pe.size()});
    const chime_team_t lane = chimex_team_lane(team, 1);
    exec::Stream stream{};
    ASSERT_EQ(CHIMEX_OK, exec::stream_create(&stream));
    exec::LaunchConfig config;
    config.block = 32;
    config.stream = stream;
    ASSERT_EQ(CHIMEX_OK,
              exec::launch(config, meet<Warp>, pe.context(), team, slots.data(), wrong.data()));
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_EQ(CHIMEX_OK, chime_barrier(lane)) << chimex_last_error();
      EXPECT_EQ(CHIMEX_OK, chime_team_sync(lane)) << chimex_last_error();
    }
    EXPECT_EQ(CHIMEX_OK, chimex_barrier_on_stream(team, stream));
    EXPECT_EQ(CHIMEX_OK, chimex_team_sync_on_stream(lane, stream));
    ASSERT_EQ(CHIMEX_OK, exec::stream_synchronize(stream));
    ASSERT_EQ(CHIMEX_OK, exec::stream_destroy(stream));
    EXPECT_EQ(0u, wrong.read()[0]);
    pe.barrier();
  });
}

// Streams have no order between them: it does not matter which the host of a member fills first.
IN_EVERY_WORLD(TeamStreams, MeetOnTwoTeamsInOppositeOrder) {
  world.spawn(2, [](Pe& pe) {
    const int n = pe.size();
    const Made whole(CHIME_TEAM_WORLD, {"whole", 0, 1, n});
    const Made reversed(CHIME_TEAM_WORLD, {"reversed", n - 1, -1, n});
    const chime_team_t teams[] = {whole, reversed};
    exec::Stream streams[2] = {};
    for (exec::Stream& stream : streams) ASSERT_EQ(CHIMEX_OK, exec::stream_create(&stream));
    for (int round = 0; round < kRounds; ++round) {
      const int first = (pe.rank() + round) % 2;
      for (const int i : {first, 1 - first})
        EXPECT_EQ(CHIMEX_OK, chimex_barrier_on_stream(teams[i], streams[i]));
    }
    for (const exec::Stream stream : streams) {
      EXPECT_EQ(CHIMEX_OK, exec::stream_synchronize(stream));
      EXPECT_EQ(CHIMEX_OK, exec::stream_destroy(stream));
    }
    chimex_async_error_t error;
    EXPECT_EQ(CHIMEX_OK, chimex_get_async_error(&error));
    EXPECT_EQ(CHIMEX_OK, error.status);
    pe.barrier();
  });
}

// Data that the host of each member has put is there after the host's barrier.
IN_EVERY_WORLD(TeamHost, BarrierCompletesItsPuts) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> slots(std::size_t(pe.size()));
    for (const Shape& shape : shapes_of(pe.size())) {
      const Made team(CHIME_TEAM_WORLD, shape);
      slots.fill(0);
      pe.barrier();
      if (team.has_me()) {
        const int n = chime_team_n_pes(team);
        for (std::uint64_t round = 1; round <= kRounds; ++round) {
          for (const int to : shape.pes())
            chime_putmem(slots.data() + chime_team_my_pe(team), &round, sizeof round, to);
          EXPECT_EQ(CHIMEX_OK, chime_barrier(team));
          for (int rank = 0; rank < n; ++rank)
            EXPECT_EQ(round, slots.read()[std::size_t(rank)]) << shape.name << ", rank " << rank;
          EXPECT_EQ(CHIMEX_OK, chime_team_sync(team));
        }
      }
      pe.barrier();
    }
  });
}

}  // namespace
}  // namespace chime::tests
