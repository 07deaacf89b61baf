// Collectives with a bound of their own: when one ends, what it returns, and what it leaves.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "chime/device/coll/timed.cuh"
#include "collectives/collectives.hpp"

namespace chime::tests {
namespace {

constexpr std::uint64_t kSoonNs = 30'000'000, kLateNs = 20'000'000'000;
constexpr std::size_t kElements = 3;

enum class Kind {
  kBarrier,
  kSync,
  kBroadcast,
  kFcollect,
  kAlltoall,
  kCollect,
  kAlltoalls,
  kAlltoallv,
  kReduce,
  kReducescatter,
  kInscan,
  kExscan
};
constexpr int kKinds = 12;

// A member's arrays: kElements for each member, the numbers in bytes.
struct Arrays {
  std::uint32_t* dst;
  const std::uint32_t* src;
  std::size_t *counts, *offsets, *room;
};

template <class Group>
CHIME_DEVICE int call_within(const Context& ctx, Group g, std::uint64_t timeout_ns, Kind kind,
                             chime_team_t team, const Arrays& a) {
  const std::size_t n = kElements, bytes = n * sizeof(*a.dst);
  switch (kind) {
    case Kind::kBarrier:
      return team_barrier_timeout(ctx, g, team, timeout_ns);
    case Kind::kSync:
      return team_sync_timeout(ctx, g, team, timeout_ns);
    case Kind::kBroadcast:
      return broadcastmem_timeout(ctx, g, team, a.dst, a.src, bytes, 0, timeout_ns);
    case Kind::kFcollect:
      return fcollectmem_timeout(ctx, g, team, a.dst, a.src, bytes, timeout_ns);
    case Kind::kAlltoall:
      return alltoallmem_timeout(ctx, g, team, a.dst, a.src, bytes, timeout_ns);
    case Kind::kCollect:
      return collectmem_timeout(ctx, g, team, a.dst, a.src, bytes, timeout_ns);
    case Kind::kAlltoalls:
      return alltoallsmem_timeout(ctx, g, team, a.dst, a.src, 1, 1, bytes, timeout_ns);
    case Kind::kAlltoallv:
      return alltoallvmem_timeout(ctx, g, team, a.dst, a.room, a.offsets, a.src, a.counts,
                                  a.offsets, timeout_ns);
    case Kind::kReduce:
      return reduce_timeout<Sum>(ctx, g, team, a.dst, a.src, n, timeout_ns);
    case Kind::kReducescatter:
      return reducescatter_timeout<Sum>(ctx, g, team, a.dst, a.src, n, timeout_ns);
    case Kind::kInscan:
      return inscan_timeout<Sum>(ctx, g, team, a.dst, a.src, n, timeout_ns);
    case Kind::kExscan:
      return exscan_timeout<Sum>(ctx, g, team, a.dst, a.src, n, timeout_ns);
  }
  return CHIMEX_ERR_INVALID;
}

int call_of_host_within(std::uint64_t timeout_ns, Kind kind, chime_team_t team, const Arrays& a) {
  const std::size_t bytes = kElements * sizeof(*a.dst);
  switch (kind) {
    case Kind::kBarrier:
      return chimex_barrier_timeout(team, timeout_ns);
    case Kind::kSync:
      return chimex_team_sync_timeout(team, timeout_ns);
    case Kind::kBroadcast:
      return chimex_broadcastmem_timeout(team, a.dst, a.src, bytes, 0, timeout_ns);
    case Kind::kFcollect:
      return chimex_fcollectmem_timeout(team, a.dst, a.src, bytes, timeout_ns);
    case Kind::kAlltoall:
      return chimex_alltoallmem_timeout(team, a.dst, a.src, bytes, timeout_ns);
    case Kind::kCollect:
      return chimex_collectmem_timeout(team, a.dst, a.src, bytes, timeout_ns);
    case Kind::kAlltoalls:
      return chimex_alltoallsmem_timeout(team, a.dst, a.src, 1, 1, bytes, timeout_ns);
    case Kind::kAlltoallv:
      return chimex_alltoallvmem_timeout(team, a.dst, a.room, a.offsets, a.src, a.counts, a.offsets,
                                         timeout_ns);
    default:
      return CHIMEX_ERR_UNSUPPORTED;
  }
}
constexpr int kKindsOfHost = 8;

// Each thread says what the call returned to it: a kernel that the call had ended would not.
template <class Group>
CHIME_KERNEL void call_once(CHIME_GRID_CONSTANT const Context context, std::uint64_t timeout_ns,
                            Kind kind, chime_team_t team, Arrays arrays, int* statuses) {
  statuses[exec::thread_rank()] = call_within(context, Group{}, timeout_ns, kind, team, arrays);
}

// A PE's arrays, and its calls.
class Member {
 public:
  explicit Member(Pe& pe)
      : pe_(pe),
        count_(static_cast<std::size_t>(pe.size())),
        src_(kElements * count_),
        dst_(kElements * count_),
        numbers_(3 * count_),
        statuses_(kGroupThreads<Block>) {
    std::vector<std::uint32_t> values;
    for (std::size_t i = 0; i < kElements * count_; ++i) values.push_back(value(pe.rank(), i));
    src_.write(values);
  }

  // What PE `pe` has at place i.
  static std::uint32_t value(int pe, std::size_t i) {
    return static_cast<std::uint32_t>(1000 * (pe + 1)) + static_cast<std::uint32_t>(i);
  }

  Arrays arrays() {
    constexpr std::size_t kBytes = kElements * sizeof(std::uint32_t);
    std::vector<std::size_t> numbers(2 * count_, kBytes);
    for (std::size_t rank = 0; rank < count_; ++rank) numbers.push_back(rank * kBytes);
    numbers_.write(numbers);
    std::size_t* const all = numbers_.data();
    return {dst_.data(), src_.data(), all, all + 2 * count_, all + count_};
  }

  // What every thread of the group got; -1: not all got the same.
  template <class Group>
  int call(std::uint64_t timeout_ns, Kind kind, chime_team_t team) {
    statuses_.write(std::vector<int>(kGroupThreads<Block>, -1));
    pe_.run(1, kGroupThreads<Group>, call_once<Group>, pe_.context(), timeout_ns, kind, team,
            arrays(), statuses_.data());
    const std::vector<int> got = statuses_.read();
    for (unsigned thread = 1; thread < kGroupThreads<Group>; ++thread)
      if (got[thread] != got[0]) return -1;
    return got[0];
  }

  std::vector<std::uint32_t> result() { return dst_.read(); }
  void clear() { dst_.write(std::vector<std::uint32_t>(kElements * count_, 0)); }

 private:
  Pe& pe_;
  const std::size_t count_;
  Symmetric<std::uint32_t> src_, dst_;
  Private<std::size_t> numbers_;
  Private<int> statuses_;
};

// What PE `me` of `n` has at place i after a call of all; 0 where the call writes nothing.
std::uint32_t expected(Kind kind, int me, int n, std::size_t i) {
  const auto place = static_cast<std::size_t>(me) * kElements;
  const int from = static_cast<int>(i / kElements);
  std::uint32_t sum = 0;
  switch (kind) {
    case Kind::kBarrier:
    case Kind::kSync:
      return 0;
    case Kind::kBroadcast:
      return i < kElements ? Member::value(0, i) : 0;
    case Kind::kFcollect:
    case Kind::kCollect:
      return Member::value(from, i % kElements);
    case Kind::kAlltoall:
    case Kind::kAlltoalls:
    case Kind::kAlltoallv:
      return Member::value(from, place + i % kElements);
    case Kind::kReduce:
      for (int pe = 0; pe < n; ++pe) sum += Member::value(pe, i);
      return i < kElements ? sum : 0;
    case Kind::kReducescatter:
      for (int pe = 0; pe < n; ++pe) sum += Member::value(pe, place + i);
      return i < kElements ? sum : 0;
    case Kind::kInscan:
    case Kind::kExscan:
      for (int pe = 0; pe < me + (kind == Kind::kInscan); ++pe) sum += Member::value(pe, i);
      return i < kElements ? sum : 0;
  }
  return 0;
}

IN_EVERY_WORLD(Timed, ACallThatAllMakeDoesWhatThePlainOneDoes) {
  world.spawn(1, [](Pe& pe) {
    Member member(pe);
    const auto expect_done = [&](Kind kind, auto call) {
      member.clear();
      pe.barrier();
      EXPECT_EQ(CHIMEX_OK, call()) << static_cast<int>(kind) << ": " << chimex_last_error();
      const std::vector<std::uint32_t> got = member.result();
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(expected(kind, pe.rank(), pe.size(), i), got[i])
            << static_cast<int>(kind) << " at " << i;
      pe.barrier();
    };
    for (const std::uint64_t timeout_ns : {kLateNs, std::uint64_t{0}, ~std::uint64_t{0}}) {
      for (int i = 0; i < kKinds; ++i) {
        const auto kind = static_cast<Kind>(i);
        expect_done(kind, [&] { return member.call<Block>(timeout_ns, kind, CHIME_TEAM_WORLD); });
        if (i < kKindsOfHost)
          expect_done(kind, [&] {
            return call_of_host_within(timeout_ns, kind, CHIME_TEAM_WORLD, member.arrays());
          });
      }
    }
  });
}

// PE 0 skips the call. The others go on: whatever CHIME_ON_ERROR says, it is no error.
IN_EVERY_WORLD(Timed, ACallThatAMemberSkipsEndsByItsBound) {
  world.spawn(2, [](Pe& pe) {
    Member member(pe);
    const auto expect_over = [&](int kind, auto call) {
      chime_team_t team = CHIME_TEAM_INVALID;  // it is none after the call, so it stays
      ASSERT_EQ(CHIMEX_OK,
                chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team));
      chimex_clear_last_error();
      const int over = pe.rank() == 0 ? CHIMEX_ERR_TIMEOUT : call(team);
      EXPECT_EQ(CHIMEX_ERR_TIMEOUT, over) << kind << ": " << chimex_last_error();
      EXPECT_EQ(CHIMEX_OK, chimex_last_status()) << chimex_last_error();
      pe.barrier();
    };
    for (int i = 0; i < kKinds; ++i) {
      expect_over(i, [&](chime_team_t team) {
        return member.call<Block>(kSoonNs, static_cast<Kind>(i), team);
      });
    }
    expect_over(
        0, [&](chime_team_t team) { return member.call<Thread>(kSoonNs, Kind::kBarrier, team); });
    expect_over(
        2, [&](chime_team_t team) { return member.call<Warp>(kSoonNs, Kind::kBroadcast, team); });
    for (const Kind kind : {Kind::kBarrier, Kind::kFcollect, Kind::kAlltoallv}) {
      expect_over(static_cast<int>(kind), [&](chime_team_t team) {
        return call_of_host_within(kSoonNs, kind, team, member.arrays());
      });
    }
    chimex_async_error_t error;
    EXPECT_EQ(CHIMEX_OK, chimex_get_async_error(&error));
  });
}

IN_EVERY_WORLD(Timed, ATeamThatIsNoneIsRefusedAsEver) {
  const char* const on_error = std::getenv("CHIME_ON_ERROR");
  if (on_error == nullptr || std::strcmp(on_error, "return") != 0)
    GTEST_SKIP() << "needs CHIME_ON_ERROR=return";
  world.spawn(1, [](Pe& pe) {
    Member member(pe);
    EXPECT_EQ(CHIMEX_ERR_INVALID, chimex_barrier_timeout(17, kLateNs));
    EXPECT_NE(nullptr, std::strstr(chimex_last_error(), "no team")) << chimex_last_error();
    EXPECT_EQ(CHIMEX_ERR_INVALID, member.call<Block>(kLateNs, Kind::kReduce, 17));
    chimex_async_error_t error;
    chimex_get_async_error(&error);
    EXPECT_EQ(CHIMEX_ERR_INVALID, error.status);
    pe.barrier();
  });
}

// ---- Beside CHIME_TIMEOUT -----------------------------------------------------------------------

IN_EVERY_WORLD(Absent, AMemberIsAwaitedAsLongAsTheCallSays) {
  if (short_timeout_s() == 0) GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s";
  world.spawn(2, [](Pe& pe) {
    Member member(pe);
    const auto come_late = [&] {
      if (pe.rank() == 0) sleep(short_timeout_s() + 1);
    };
    come_late();
    EXPECT_EQ(CHIMEX_OK, member.call<Block>(kLateNs, Kind::kReduce, CHIME_TEAM_WORLD));
    come_late();
    EXPECT_EQ(CHIMEX_OK, chimex_barrier_timeout(CHIME_TEAM_WORLD, 0)) << chimex_last_error();
  });
}

IN_EVERY_WORLD(Absent, TheNextCallHasTheJobsBound) {
  if (short_timeout_s() == 0) GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s";
  world.spawn(2, [](Pe& pe) {
    Member member(pe);
    chime_team_t team = CHIME_TEAM_INVALID;
    ASSERT_EQ(CHIMEX_OK,
              chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team));
    EXPECT_EQ(CHIMEX_OK, chimex_barrier_timeout(team, 4'000'000'000)) << chimex_last_error();
    EXPECT_EQ(CHIMEX_OK, member.call<Block>(4'000'000'000, Kind::kBarrier, team));
    if (pe.rank() != 0) {
      EXPECT_EQ(CHIMEX_ERR_TIMEOUT, chime_barrier(team));
      EXPECT_NE(nullptr, std::strstr(chimex_last_error(), "PE 0")) << chimex_last_error();
    }
    EXPECT_EQ(CHIMEX_OK, chimex_barrier_timeout(CHIME_TEAM_WORLD, kLateNs));
  });
}

// The call after it says what the one that was over did not.
IN_EVERY_WORLD(Absent, ALaterCallNamesTheMember) {
  if (short_timeout_s() == 0) GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s";
  world.spawn(2, [](Pe& pe) {
    chime_team_t team = CHIME_TEAM_INVALID;
    ASSERT_EQ(CHIMEX_OK,
              chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team));
    if (pe.rank() != 0) {
      EXPECT_EQ(CHIMEX_ERR_TIMEOUT, chimex_barrier_timeout(team, kSoonNs));
      EXPECT_EQ(CHIMEX_ERR_TIMEOUT, chimex_barrier_timeout(chimex_team_lane(team, 1), kLateNs));
      for (const char* const words : {"meets no more", "PE 0"})
        EXPECT_NE(nullptr, std::strstr(chimex_last_error(), words)) << chimex_last_error();
    }
    pe.barrier();
  });
}

}  // namespace
}  // namespace chime::tests
