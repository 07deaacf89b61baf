// Scans, and the largest of pairs with its place, of teams of every shape, by each group, by the
// host and on streams.
#include <cmath>

#include "chime/device/coll/scan.cuh"
#include "collectives/collectives.hpp"

namespace chime::tests {
namespace {

// About what words bring, about a slot, and several of those.
constexpr std::size_t kSizes[] = {0, 1, 4, 5, 641, 3000};

template <class T, class Group>
CHIME_KERNEL void scan_once(CHIME_GRID_CONSTANT const Context context, bool with_own,
                            chime_team_t team, T* dst, const T* src, std::size_t n, int* failed) {
  const Group g{};
  const int status = with_own ? inscan<Sum>(context, g, team, dst, src, n)
                              : exscan<Sum>(context, g, team, dst, src, n);
  if (g.is_leader() && status != CHIMEX_OK) *failed = status;
}

// The sums of the elements of the first `members` of a team, as a tree.
template <class T>
std::vector<T> prefix(const std::vector<int>& pes, std::size_t members, std::size_t n, int round) {
  std::vector<T> all;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<T> values;
    for (std::size_t rank = 0; rank < members; ++rank)
      values.push_back(brought<T>(pes[rank], i, round));
    all.push_back(values.empty() ? T{} : in_a_tree(values, [](T a, T b) { return a + b; }));
  }
  return all;
}

// `scan(with_own, team, dst, src, n)`, by each member.
template <class T, class Scan>
void expect_scanned(Pe& pe, Scan scan) {
  Symmetric<T> src(3000), dst(3000);
  int round = 0;
  for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
    const int rank = rank_of(pe.rank(), pes);
    for (const bool with_own : {true, false})
      for (const std::size_t n : kSizes) {
        // Each size in place and not, with and without its own in turns.
        Symmetric<T>& to = (++round + (with_own ? 1 : 0)) % 2 != 0 ? src : dst;
        src.write(brought_by<T>(pe.rank(), n, round));
        pe.barrier();
        if (rank < 0) continue;
        scan(with_own, team, to.data(), static_cast<const T*>(src.data()), n);
        const auto before = static_cast<std::size_t>(rank);
        const std::vector<T> wanted = prefix<T>(pes, before + (with_own ? 1 : 0), n, round);
        std::vector<T> got = to.read();
        got.resize(n);
        ASSERT_EQ(wanted, got) << (with_own ? "with" : "without") << " its own, " << n
                               << " elements";
      }
  });
}

IN_EVERY_WORLD(Scan, SumsWhatMembersUpToThisOneBring) {
  world.spawn(1, [](Pe& pe) {
    Private<int> failed(1);
    for_each_group([&]<class Group>(GroupTag<Group>) {
      expect_scanned<double>(
          pe, [&](bool with_own, chime_team_t team, double* dst, const double* src, std::size_t n) {
            pe.run(1, kGroupThreads<Group>, scan_once<double, Group>, pe.context(), with_own, team,
                   dst, src, n, failed.data());
            ASSERT_EQ(0, failed.read()[0]);
          });
    });
  });
}

IN_EVERY_WORLD(Scan, OfTheHostAndOnAStreamIsThatOfKernels) {
  world.spawn(1, [](Pe& pe) {
    exec::Stream stream{};
    ASSERT_EQ(CHIMEX_OK, exec::stream_create(&stream));
    for (const bool on_stream : {false, true})
      expect_scanned<long>(
          pe, [&](bool with_own, chime_team_t team, long* dst, const long* src, std::size_t n) {
            int status = CHIMEX_OK;
            if (on_stream) {
              status = with_own ? chimex_long_sum_inscan_on_stream(team, dst, src, n, stream)
                                : chimex_long_sum_exscan_on_stream(team, dst, src, n, stream);
            } else {
              status = with_own ? chime_long_sum_inscan(team, dst, src, n)
                                : chime_long_sum_exscan(team, dst, src, n);
            }
            ASSERT_EQ(CHIMEX_OK, status) << chimex_last_error();
            ASSERT_EQ(CHIMEX_OK, exec::stream_synchronize(stream));
          });
    ASSERT_EQ(CHIMEX_OK, exec::stream_destroy(stream));
  });
}

// ---- The largest, and where ---------------------------------------------------------------------

template <class Group>
CHIME_KERNEL void find_largest(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                               chimex_double2_t* dst, const chimex_double2_t* src, std::size_t n,
                               int* failed) {
  const Group g{};
  const int status = reduce<MaxLocation>(context, g, team, dst, src, n);
  if (g.is_leader() && status != CHIMEX_OK) *failed = status;
}

// Many are equal, and some are no numbers.
double value_of(int pe, std::size_t i, int round) {
  const auto mixed = static_cast<std::size_t>(pe) * 7 + i * 3 + static_cast<std::size_t>(round);
  return mixed % 11 == 0 ? std::nan("") : static_cast<double>(mixed % 3) - 1;
}
std::vector<chimex_double2_t> pairs_of(int pe, std::size_t n, int round) {
  std::vector<chimex_double2_t> all;
  for (std::size_t i = 0; i < n; ++i)
    all.push_back({value_of(pe, i, round), pe * 1000. + static_cast<double>(i)});
  return all;
}

// `find(team, dst, src, n)`, by each member.
template <class Find>
void expect_largest(Pe& pe, Find find) {
  Symmetric<chimex_double2_t> src(700), dst(700);
  int round = 0;
  for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{3}, std::size_t{700}}) {
      ++round;
      src.write(pairs_of(pe.rank(), n, round));
      pe.barrier();
      if (rank_of(pe.rank(), pes) < 0) continue;
      find(team, dst.data(), static_cast<const chimex_double2_t*>(src.data()), n);
      const auto got = dst.read();
      for (std::size_t i = 0; i < n; ++i) {
        int winner = pes[0];
        for (const int other : pes) {
          const double value = value_of(other, i, round), best = value_of(winner, i, round);
          if (!std::isnan(best) && (std::isnan(value) || value > best)) winner = other;
        }
        ASSERT_EQ(winner * 1000. + static_cast<double>(i), got[i].y) << "element " << i;
        const double wanted = value_of(winner, i, round);
        ASSERT_TRUE(wanted == got[i].x || (std::isnan(wanted) && std::isnan(got[i].x)));
      }
    }
  });
}

IN_EVERY_WORLD(Maxloc, FindsTheFirstOfTheLargest) {
  world.spawn(1, [](Pe& pe) {
    Private<int> failed(1);
    for_each_group([&]<class Group>(GroupTag<Group>) {
      expect_largest(pe, [&](chime_team_t team, chimex_double2_t* dst, const chimex_double2_t* src,
                             std::size_t n) {
        pe.run(1, kGroupThreads<Group>, find_largest<Group>, pe.context(), team, dst, src, n,
               failed.data());
        ASSERT_EQ(0, failed.read()[0]);
      });
    });
  });
}

IN_EVERY_WORLD(Maxloc, OfTheHostAndOnAStreamIsThatOfKernels) {
  world.spawn(1, [](Pe& pe) {
    exec::Stream stream{};
    ASSERT_EQ(CHIMEX_OK, exec::stream_create(&stream));
    for (const bool on_stream : {false, true})
      expect_largest(pe, [&](chime_team_t team, chimex_double2_t* dst, const chimex_double2_t* src,
                             std::size_t n) {
        const int status = on_stream
                               ? chimex_double2_maxloc_reduce_on_stream(team, dst, src, n, stream)
                               : chimex_double2_maxloc_reduce(team, dst, src, n);
        ASSERT_EQ(CHIMEX_OK, status) << chimex_last_error();
        ASSERT_EQ(CHIMEX_OK, exec::stream_synchronize(stream));
      });
    ASSERT_EQ(CHIMEX_OK, exec::stream_destroy(stream));
  });
}

}  // namespace
}  // namespace chime::tests
