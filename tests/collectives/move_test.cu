// Broadcast, fcollect and alltoall of teams of every shape, by each group, by the host and on
// streams: every root, several sizes, and many calls one after another.
#include "chime/device/coll/move.cuh"
#include "collectives/collectives.hpp"

namespace chime::tests {
namespace {

enum Kind { kBroadcast, kFcollect, kAlltoall };

template <class Group>
CHIME_KERNEL void move_once(CHIME_GRID_CONSTANT const Context context, int kind, chime_team_t team,
                            std::uint32_t* dst, const std::uint32_t* src, std::size_t n, int root,
                            int* failed) {
  const Group g{};
  const std::size_t bytes = n * sizeof(*dst);
  const int status = kind == kBroadcast  ? broadcastmem(context, g, team, dst, src, bytes, root)
                     : kind == kFcollect ? fcollectmem(context, g, team, dst, src, bytes)
                                         : alltoallmem(context, g, team, dst, src, bytes);
  if (g.is_leader() && status != CHIMEX_OK) *failed = status;
}

// What member `rank` ought to have: n elements for each member, or of the root.
std::vector<std::uint32_t> expected(Kind kind, const std::vector<int>& pes, int rank, std::size_t n,
                                    int root, int round) {
  std::vector<std::uint32_t> all;
  if (kind == kBroadcast)
    return brought_by<std::uint32_t>(pes[static_cast<std::size_t>(root)], n, round);
  for (const int pe : pes) {
    const std::size_t first = kind == kFcollect ? 0 : static_cast<std::size_t>(rank) * n;
    for (std::size_t i = 0; i < n; ++i) all.push_back(brought<std::uint32_t>(pe, first + i, round));
  }
  return all;
}

constexpr std::size_t kMost = 3001;

// `move(kind, team, dst, src, n, root)`, by each member.
template <class Move>
void expect_moved(Pe& pe, Move move) {
  const std::size_t all = kMost * static_cast<std::size_t>(pe.size());
  Symmetric<std::uint32_t> src(all), dst(all);
  int round = 0;
  for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
    const int rank = rank_of(pe.rank(), pes);
    for (const Kind kind : {kBroadcast, kFcollect, kAlltoall})
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{4}, kMost})
        for (int root = 0; root < (kind == kBroadcast ? static_cast<int>(pes.size()) : 1); ++root) {
          ++round;
          src.write(brought_by<std::uint32_t>(pe.rank(), n * pes.size(), round));
          pe.barrier();
          if (rank < 0) continue;
          move(kind, team, dst.data(), static_cast<const std::uint32_t*>(src.data()), n, root);
          const auto wanted = expected(kind, pes, rank, n, root, round);
          auto got = dst.read();
          got.resize(wanted.size());
          ASSERT_EQ(wanted, got) << "kind " << kind << ", " << n << " elements, root " << root;
        }
  });
}

IN_EVERY_WORLD(Move, BringsEachMemberItsData) {
  world.spawn(1, [](Pe& pe) {
    Private<int> failed(1);
    for_each_group([&]<class Group>(GroupTag<Group>) {
      expect_moved(pe, [&](Kind kind, chime_team_t team, std::uint32_t* dst,
                           const std::uint32_t* src, std::size_t n, int root) {
        pe.run(1, kGroupThreads<Group>, move_once<Group>, pe.context(), static_cast<int>(kind),
               team, dst, src, n, root, failed.data());
        ASSERT_EQ(0, failed.read()[0]);
      });
    });
  });
}

IN_EVERY_WORLD(Move, OfTheHostIsThatOfKernels) {
  world.spawn(1, [](Pe& pe) {
    expect_moved(pe, [&](Kind kind, chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
                         std::size_t n, int root) {
      const int status = kind == kBroadcast  ? chime_uint32_broadcast(team, dst, src, n, root)
                         : kind == kFcollect ? chime_uint32_fcollect(team, dst, src, n)
                                             : chime_uint32_alltoall(team, dst, src, n);
      ASSERT_EQ(CHIMEX_OK, status) << chimex_last_error();
    });
  });
}

IN_EVERY_WORLD(Move, OnAStreamIsThatOfKernels) {
  world.spawn(1, [](Pe& pe) {
    exec::Stream stream{};
    ASSERT_EQ(CHIMEX_OK, exec::stream_create(&stream));
    expect_moved(pe, [&](Kind kind, chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
                         std::size_t n, int root) {
      const int status =
          kind == kBroadcast  ? chimex_uint32_broadcast_on_stream(team, dst, src, n, root, stream)
          : kind == kFcollect ? chimex_uint32_fcollect_on_stream(team, dst, src, n, stream)
                              : chimex_uint32_alltoall_on_stream(team, dst, src, n, stream);
      ASSERT_EQ(CHIMEX_OK, status) << chimex_last_error();
      ASSERT_EQ(CHIMEX_OK, exec::stream_synchronize(stream));
    });
    ASSERT_EQ(CHIMEX_OK, exec::stream_destroy(stream));
  });
}

}  // namespace
}  // namespace chime::tests
