// collect, alltoalls and alltoallv of teams of every shape, by each group, by the host and on
// streams: members that bring different amounts, none, and more than a slot has place for.
#include "chime/device/coll/strided.cuh"
#include "chime/device/coll/uneven.cuh"
#include "collectives/collectives.hpp"

namespace chime::tests {
namespace {

using Values = std::vector<std::uint32_t>;

// Who calls: kernels of a group, the host, a stream.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual int collect(chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
                      std::size_t n) = 0;
  virtual int alltoalls(chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
                        std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t n) = 0;
  virtual int alltoallv(chime_team_t team, std::uint32_t* dst, std::size_t* dst_counts,
                        const std::size_t* dst_offsets, const std::uint32_t* src,
                        const std::size_t* src_counts, const std::size_t* src_offsets) = 0;
};

template <class Group>
CHIME_KERNEL void collect_once(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                               std::uint32_t* dst, const std::uint32_t* src, std::size_t n,
                               int* status) {
  const Group g{};
  const int got = collectmem(context, g, team, dst, src, n * sizeof(*dst));
  if (g.is_leader()) *status = got;
}
template <class Group>
CHIME_KERNEL void alltoalls_once(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                                 std::uint32_t* dst, const std::uint32_t* src,
                                 std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                                 std::size_t n, int* status) {
  const Group g{};
  const int got = alltoallsmem(context, g, team, dst, src, dst_stride, src_stride, n, sizeof(*dst));
  if (g.is_leader()) *status = got;
}
template <class Group>
CHIME_KERNEL void alltoallv_once(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                                 std::uint32_t* dst, std::size_t* dst_counts,
                                 const std::size_t* dst_offsets, const std::uint32_t* src,
                                 const std::size_t* src_counts, const std::size_t* src_offsets,
                                 int* status) {
  const Group g{};
  const int got = alltoallvmem(context, g, team, dst, dst_counts, dst_offsets, src, src_counts,
                               src_offsets, sizeof(*dst));
  if (g.is_leader()) *status = got;
}

template <class Group>
class ByKernel : public Caller {
 public:
  explicit ByKernel(Pe& pe) : pe_(pe) {}

  int collect(chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
              std::size_t n) override {
    pe_.run(1, kGroupThreads<Group>, collect_once<Group>, pe_.context(), team, dst, src, n,
            status_.data());
    return status_.read()[0];
  }
  int alltoalls(chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
                std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t n) override {
    pe_.run(1, kGroupThreads<Group>, alltoalls_once<Group>, pe_.context(), team, dst, src,
            dst_stride, src_stride, n, status_.data());
    return status_.read()[0];
  }
  int alltoallv(chime_team_t team, std::uint32_t* dst, std::size_t* dst_counts,
                const std::size_t* dst_offsets, const std::uint32_t* src,
                const std::size_t* src_counts, const std::size_t* src_offsets) override {
    pe_.run(1, kGroupThreads<Group>, alltoallv_once<Group>, pe_.context(), team, dst, dst_counts,
            dst_offsets, src, src_counts, src_offsets, status_.data());
    return status_.read()[0];
  }

 private:
  Pe& pe_;
  Private<int> status_{1};
};

class ByHost : public Caller {
 public:
  int collect(chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
              std::size_t n) override {
    return chime_uint32_collect(team, dst, src, n);
  }
  int alltoalls(chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
                std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t n) override {
    return chime_uint32_alltoalls(team, dst, src, dst_stride, src_stride, n);
  }
  int alltoallv(chime_team_t team, std::uint32_t* dst, std::size_t* dst_counts,
                const std::size_t* dst_offsets, const std::uint32_t* src,
                const std::size_t* src_counts, const std::size_t* src_offsets) override {
    return chimex_uint32_alltoallv(team, dst, dst_counts, dst_offsets, src, src_counts,
                                   src_offsets);
  }
};

class OnStream : public Caller {
 public:
  OnStream() { EXPECT_EQ(CHIMEX_OK, exec::stream_create(&stream_)); }
  ~OnStream() override { EXPECT_EQ(CHIMEX_OK, exec::stream_destroy(stream_)); }

  int collect(chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
              std::size_t n) override {
    return ended(chimex_uint32_collect_on_stream(team, dst, src, n, stream_));
  }
  int alltoalls(chime_team_t team, std::uint32_t* dst, const std::uint32_t* src,
                std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t n) override {
    return ended(
        chimex_uint32_alltoalls_on_stream(team, dst, src, dst_stride, src_stride, n, stream_));
  }
  int alltoallv(chime_team_t team, std::uint32_t* dst, std::size_t* dst_counts,
                const std::size_t* dst_offsets, const std::uint32_t* src,
                const std::size_t* src_counts, const std::size_t* src_offsets) override {
    return ended(chimex_uint32_alltoallv_on_stream(team, dst, dst_counts, dst_offsets, src,
                                                   src_counts, src_offsets, stream_));
  }

 private:
  int ended(int status) {
    EXPECT_EQ(CHIMEX_OK, exec::stream_synchronize(stream_));
    return status;
  }
  exec::Stream stream_{};
};

template <class Body>
void for_each_caller(Pe& pe, Body body) {
  for_each_group([&]<class Group>(GroupTag<Group>) {
    ByKernel<Group> caller(pe);
    body(caller);
  });
  ByHost host;
  body(host);
  OnStream stream;
  body(stream);
}

constexpr std::size_t kMost = 3001;

// Elements that PE `pe` brings: none, few, or more than a slot has place for.
std::size_t amount(int pe, int round) {
  constexpr std::size_t kAmounts[] = {0, 1, 5, kMost, 2, 700};
  return kAmounts[static_cast<std::size_t>(pe + round) % std::size(kAmounts)];
}

IN_EVERY_WORLD(Collect, PutsWhatMembersBringInTheOrderOfRanks) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint32_t> src(kMost), dst(kMost * static_cast<std::size_t>(pe.size()));
    int round = 0;
    for_each_caller(pe, [&](Caller& caller) {
      for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
        for (int repeated = 0; repeated < 3; ++repeated) {
          ++round;
          const std::size_t mine = amount(pe.rank(), round);
          src.write(brought_by<std::uint32_t>(pe.rank(), mine, round));
          pe.barrier();
          if (rank_of(pe.rank(), pes) < 0) continue;
          ASSERT_EQ(CHIMEX_OK, caller.collect(team, dst, src, mine)) << chimex_last_error();
          Values wanted;
          for (const int member : pes)
            for (const auto value : brought_by<std::uint32_t>(member, amount(member, round), round))
              wanted.push_back(value);
          Values got = dst.read();
          got.resize(wanted.size());
          ASSERT_EQ(wanted, got);
        }
      });
    });
  });
}

// Elements between those of an array must stay as they are.
constexpr std::uint32_t kUntouched = 0xabcdef01;

IN_EVERY_WORLD(Alltoalls, MovesElementsThatLieApart) {
  world.spawn(1, [](Pe& pe) {
    const auto all = static_cast<std::size_t>(pe.size());
    Symmetric<std::uint32_t> src(3 * kMost * all), dst(3 * kMost * all);
    int round = 0;
    for_each_caller(pe, [&](Caller& caller) {
      for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
        const int rank = rank_of(pe.rank(), pes);
        for (const auto& [n, to, from] : {std::tuple{std::size_t{0}, 1, 1},
                                          {std::size_t{1}, 3, 2},
                                          {std::size_t{5}, 1, 3},
                                          {kMost, 3, 1},
                                          {kMost, 2, 3}}) {
          ++round;
          src.write(brought_by<std::uint32_t>(pe.rank(), 3 * n * pes.size(), round));
          dst.write(Values(3 * n * pes.size(), kUntouched));
          pe.barrier();
          if (rank < 0) continue;
          ASSERT_EQ(CHIMEX_OK, caller.alltoalls(team, dst, src, to, from, n))
              << chimex_last_error();
          Values wanted(3 * n * pes.size(), kUntouched);
          for (std::size_t member = 0; member < pes.size(); ++member)
            for (std::size_t i = 0; i < n; ++i) {
              const std::size_t at = static_cast<std::size_t>(rank) * n + i;
              wanted[(member * n + i) * static_cast<std::size_t>(to)] =
                  brought<std::uint32_t>(pes[member], at * static_cast<std::size_t>(from), round);
            }
          Values got = dst.read();
          got.resize(wanted.size());
          ASSERT_EQ(wanted, got) << n << " elements, strides " << to << " and " << from;
        }
      });
    });
  });
}

// Elements from member `from` to member `to`.
std::size_t amount_between(std::size_t from, std::size_t to, int round) {
  return amount(static_cast<int>(3 * from + to), round);
}

IN_EVERY_WORLD(Alltoallv, BringsEachMemberItsShare) {
  world.spawn(1, [](Pe& pe) {
    const auto all = static_cast<std::size_t>(pe.size());
    // A place for the most that a member may send to each, with one element between them.
    constexpr std::size_t kPlace = kMost + 1;
    Symmetric<std::uint32_t> src(kPlace * all), dst(kPlace * all);
    Private<std::size_t> dst_counts(all), dst_offsets(all), src_counts(all), src_offsets(all);
    int round = 0;
    for_each_caller(pe, [&](Caller& caller) {
      for_each_team(pe, [&](chime_team_t team, const std::vector<int>& pes) {
        const int rank = rank_of(pe.rank(), pes);
        const auto me = static_cast<std::size_t>(rank);
        ++round;
        src.write(brought_by<std::uint32_t>(pe.rank(), kPlace * pes.size(), round));
        dst.write(Values(kPlace * pes.size(), kUntouched));
        pe.barrier();
        if (rank < 0) return;
        std::vector<std::size_t> room, to, counts, from;
        for (std::size_t member = 0; member < pes.size(); ++member) {
          counts.push_back(amount_between(me, member, round));
          // From the last member on, and to there: not in the order of ranks.
          from.push_back((pes.size() - 1 - member) * kPlace + 1);
          to.push_back((pes.size() - 1 - member) * kPlace);
          room.push_back(amount_between(member, me, round) + member % 2);
        }
        dst_counts.write(room), dst_offsets.write(to);
        src_counts.write(counts), src_offsets.write(from);
        ASSERT_EQ(CHIMEX_OK, caller.alltoallv(team, dst, dst_counts.data(), dst_offsets.data(), src,
                                              src_counts.data(), src_offsets.data()))
            << chimex_last_error();
        Values wanted(kPlace * pes.size(), kUntouched);
        for (std::size_t member = 0; member < pes.size(); ++member) {
          const std::size_t n = amount_between(member, me, round);
          ASSERT_EQ(n, dst_counts.read()[member]) << "of member " << member;
          const std::size_t first = (pes.size() - 1 - me) * kPlace + 1;
          for (std::size_t i = 0; i < n; ++i)
            wanted[to[member] + i] = brought<std::uint32_t>(pes[member], first + i, round);
        }
        Values got = dst.read();
        got.resize(wanted.size());
        ASSERT_EQ(wanted, got);
      });
    });
  });
}

// By the names of bytes, and of elements of each size.
template <class T>
void expect_elements_move(int n) {
  const auto all = static_cast<std::size_t>(n);
  Symmetric<T> src(3 * all), dst(3 * all);
  std::vector<T> mine;
  for (std::size_t i = 0; i < 3 * all; ++i) mine.push_back(brought<T>(chime_my_pe(), i, sizeof(T)));
  src.write(mine);
  chime_barrier_all();
  if constexpr (sizeof(T) == 1) {
    ASSERT_EQ(CHIMEX_OK, chime_alltoallsmem(CHIME_TEAM_WORLD, dst.data(), src.data(), 2, 3, 1));
  } else if constexpr (sizeof(T) == 2) {
    ASSERT_EQ(CHIMEX_OK, chime_int16_alltoalls(CHIME_TEAM_WORLD, dst, src, 2, 3, 1));
  } else {
    ASSERT_EQ(CHIMEX_OK, chime_double_alltoalls(CHIME_TEAM_WORLD, dst, src, 2, 3, 1));
  }
  for (std::size_t member = 0; member < all; ++member)
    ASSERT_EQ(brought<T>(static_cast<int>(member), 3 * static_cast<std::size_t>(chime_my_pe()),
                         sizeof(T)),
              dst.read(2 * member))
        << sizeof(T) << " bytes, member " << member;
  chime_barrier_all();
}
IN_EVERY_WORLD(Alltoalls, MovesElementsOfEachSize) {
  world.spawn(1, [](Pe& pe) {
    expect_elements_move<unsigned char>(pe.size());
    expect_elements_move<std::int16_t>(pe.size());
    expect_elements_move<double>(pe.size());
  });
}

}  // namespace
}  // namespace chime::tests
