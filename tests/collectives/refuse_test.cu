// What collectives refuse, alike on all members, and what becomes of a call that a member skips.
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "chime/device/coll/move.cuh"
#include "chime/device/coll/uneven.cuh"
#include "collectives/collectives.hpp"

namespace chime::tests {
namespace {

void expect_refused(int status, const char* words, int got) {
  EXPECT_EQ(status, got);
  EXPECT_NE(nullptr, std::strstr(chimex_last_error(), words)) << chimex_last_error();
}

// The same of a call in a kernel. REQUIRES: no call of the host has told of its failure yet.
void expect_refused_in_kernel(int status, const char* words, int got) {
  EXPECT_EQ(status == CHIMEX_ERR_INVALID ? status : CHIMEX_ERR_ABORTED, got);
  chimex_async_error_t error;
  EXPECT_EQ(CHIMEX_OK, chimex_get_async_error(&error));
  EXPECT_EQ(status, error.status);
  EXPECT_NE(nullptr, std::strstr(error.message, words)) << error.message;
}

IN_EVERY_WORLD(Refused, CallsChangeNothing) {
  world.spawn(1, [](Pe& pe) {
    const int n = pe.size();
    const auto count = static_cast<std::size_t>(n);
    Symmetric<int> src(count), dst(count);
    const Made team(CHIME_TEAM_WORLD, {"reversed", n - 1, -1, n});
    src.write(std::vector<int>(count, pe.rank() + 1));
    pe.barrier();
    for (const int root : {-1, n, INT_MAX})
      expect_refused(CHIMEX_ERR_INVALID, "to be the root",
                     chime_int_broadcast(team, dst, src, 1, root));
    for (const chime_team_t none : {chime_team_t{CHIME_TEAM_INVALID}, chime_team_t{17}})
      expect_refused(CHIMEX_ERR_INVALID, "no team", chime_int_sum_reduce(none, dst, src, 1));
    for (const std::size_t many : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / sizeof(int)}) {
      EXPECT_EQ(CHIMEX_ERR_INVALID, chime_int_fcollect(team, dst, src, many));
      EXPECT_EQ(CHIMEX_ERR_INVALID, chime_int_max_reduce(team, dst, src, many));
      EXPECT_EQ(CHIMEX_ERR_INVALID, chime_int_max_reducescatter(team, dst, src, many));
    }
    Private<int> private_dst(count);
    if (n > 1)
      expect_refused(CHIMEX_ERR_INVALID, "reduce",
                     chime_int_sum_reduce(team, private_dst.data(), src, 1));
    EXPECT_EQ(0, dst.read(0));
    EXPECT_EQ(CHIMEX_OK, chime_int_sum_reduce(team, dst, src, 1)) << chimex_last_error();
    EXPECT_EQ(n * (n + 1) / 2, dst.read(0));
    pe.barrier();
  });
}

// One number a member.
struct Numbers {
  explicit Numbers(int n) : count(static_cast<std::size_t>(n)), memory(count) {}
  std::size_t* all(std::size_t value) { return from(value, 0); }
  std::size_t* from(std::size_t value, std::size_t step) {
    std::vector<std::size_t> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(value + i * step);
    memory.write(values);
    return memory.data();
  }
  const std::size_t count;
  Private<std::size_t> memory;
};

// Before any data move: on the member that refuses for its own reason, on the others for that it
// does. The next call goes well.
IN_EVERY_WORLD(Refused, AnAlltoallvThatOneMemberCannotTakeEndsOnAll) {
  world.spawn(2, [](Pe& pe) {
    const int n = pe.size();
    const bool refuses = pe.rank() == n - 1;
    const std::size_t all = 8 * static_cast<std::size_t>(n);
    Symmetric<int> src(all), dst(all);
    Numbers room(n), to(n), counts(n), from(n);
    dst.write(std::vector<int>(all, -1));
    src.write(std::vector<int>(all, pe.rank()));
    pe.barrier();
    const auto call = [&](std::size_t most, std::size_t offset, std::size_t source) {
      return chimex_int_alltoallv(CHIME_TEAM_WORLD, dst, room.all(most), to.from(offset, 8), src,
                                  counts.all(8), from.all(source));
    };
    const auto expect = [&](const char* why, std::size_t most, std::size_t offset,
                            std::size_t source) {
      expect_refused(CHIMEX_ERR_INVALID, refuses ? why : "refuses the call",
                     call(most, offset, source));
      pe.barrier();
    };
    expect("no room", refuses ? 7 : 8, 0, 0);
    expect("outside", 8, refuses ? std::size_t{1} << 40 : 0, 0);
    expect("heap", 8, refuses ? SIZE_MAX : 0, 0);
    expect("alltoallv", 8, 0, refuses ? SIZE_MAX / 2 : 0);
    EXPECT_EQ(-1, dst.read(0));
    EXPECT_EQ(8u, room.memory.read()[0]);
    pe.barrier();
    ASSERT_EQ(CHIMEX_OK, call(8, 0, 0)) << chimex_last_error();
    EXPECT_NE(-1, dst.read(7));
    pe.barrier();
  });
}

CHIME_KERNEL void alltoallv_of_8(CHIME_GRID_CONSTANT const Context context, int* dst,
                                 std::size_t* room, const std::size_t* offsets, const int* src,
                                 const std::size_t* counts, int* status) {
  const int got = alltoallvmem(context, Block{}, CHIME_TEAM_WORLD, dst, room, offsets, src, counts,
                               offsets, sizeof(int));
  if (Block{}.is_leader()) *status = got;
}
IN_EVERY_WORLD(Refused, AnAlltoallvOfKernelsEndsOnAll) {
  world.spawn(2, [](Pe& pe) {
    const std::size_t all = 8 * static_cast<std::size_t>(pe.size());
    Symmetric<int> src(all), dst(all);
    Numbers room(pe.size()), offsets(pe.size()), counts(pe.size());
    Private<int> status(1);
    pe.barrier();
    const auto call = [&](std::size_t most) {
      pe.run(1, 40, alltoallv_of_8, pe.context(), dst.data(), room.all(most), offsets.from(0, 8),
             src.data(), counts.all(8), status.data());
      return status.read()[0];
    };
    EXPECT_EQ(CHIMEX_OK, call(8));
    EXPECT_EQ(CHIMEX_ERR_INVALID, call(pe.rank() == 0 ? 7 : 8));
    chimex_async_error_t error;
    EXPECT_EQ(CHIMEX_OK, chimex_get_async_error(&error));
    EXPECT_EQ(CHIMEX_ERR_INVALID, error.status);
    pe.barrier();
  });
}

CHIME_KERNEL void fcollect_one(CHIME_GRID_CONSTANT const Context context, std::uint64_t* dst,
                               const std::uint64_t* src, int* status) {
  *status = fcollectmem(context, Thread{}, CHIME_TEAM_WORLD, dst, src, sizeof(*src));
}
// What the host has sent in a call that was refused does not come after what a kernel sends next.
IN_EVERY_WORLD(Refused, ACallOfTheHostIsFollowedByOneOfAKernel) {
  world.spawn(2, [](Pe& pe) {
    const auto n = static_cast<std::size_t>(pe.size());
    Symmetric<int> data(8 * n);
    Symmetric<std::uint64_t> src(1), all(n);
    Numbers room(pe.size()), zeros(pe.size()), counts(pe.size());
    Private<int> status(1);
    src.write(std::vector{static_cast<std::uint64_t>(pe.rank() + 1)});
    pe.barrier();
    for (int round = 0; round < 20; ++round) {
      const bool refuses = pe.rank() == round % pe.size();
      EXPECT_EQ(CHIMEX_ERR_INVALID,
                chimex_int_alltoallv(CHIME_TEAM_WORLD, data, room.all(refuses ? 0 : 1),
                                     zeros.all(0), data, counts.all(1), zeros.all(0)));
      pe.run(1, 1, fcollect_one, pe.context(), all.data(),
             static_cast<const std::uint64_t*>(src.data()), status.data());
      ASSERT_EQ(CHIMEX_OK, status.read()[0]);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(i + 1, all.read(i));
    }
    pe.barrier();
  });
}

IN_EVERY_WORLD(Refused, CollectsOfMoreThanTheHeapHasAreRefusedByAll) {
  world.spawn(2, [](Pe& pe) {
    Symmetric<int> src(8), dst(8 * static_cast<std::size_t>(pe.size()));
    pe.barrier();
    // A member that brings as many elements as the last allocation has: all know the sum.
    const std::size_t mine = pe.rank() == 0 ? std::size_t{1} << 30 : 8;
    const int status = chime_int_collect(CHIME_TEAM_WORLD, dst, src, mine);
    EXPECT_EQ(CHIMEX_ERR_INVALID, status) << chimex_last_error();
    pe.barrier();
  });
}

CHIME_KERNEL void collect_one(CHIME_GRID_CONSTANT const Context context, int* dst, const int* src,
                              int* status) {
  *status = collectmem(context, Thread{}, CHIME_TEAM_WORLD, dst, src, sizeof(*src));
}
// One member's `dst` is not symmetric. Its next call does not end the others' collect in place of
// its data, and all bring something again.
IN_EVERY_WORLD(Refused, ACollectIntoPrivateMemoryOfOneMemberEndsOnAll) {
  world.spawn(2, [](Pe& pe) {
    const auto n = static_cast<std::size_t>(pe.size());
    Symmetric<int> src(1), dst(n), sum(1);
    Private<int> mine(n), status(1);
    const bool refuses = pe.rank() == pe.size() - 1;
    src.write(std::vector{pe.rank() + 1});
    pe.barrier();
    expect_refused(CHIMEX_ERR_INVALID, refuses ? "heap" : "refuses the call",
                   chime_int_collect(CHIME_TEAM_WORLD, refuses ? mine.data() : dst.data(), src, 1));
    ASSERT_EQ(CHIMEX_OK, chime_int_sum_reduce(CHIME_TEAM_WORLD, sum, src, 1));
    EXPECT_EQ(pe.size() * (pe.size() + 1) / 2, sum.read(0));
    EXPECT_EQ(0, dst.read(0));
    // Where none brings any, no place is needed.
    EXPECT_EQ(CHIMEX_OK,
              chime_int_collect(CHIME_TEAM_WORLD, refuses ? nullptr : dst.data(), src, 0))
        << chimex_last_error();
    ASSERT_EQ(CHIMEX_OK, chime_int_collect(CHIME_TEAM_WORLD, dst, src, 1)) << chimex_last_error();
    EXPECT_EQ(pe.size(), dst.read(n - 1));
    pe.barrier();
    pe.run(1, 1, collect_one, pe.context(), refuses ? mine.data() : dst.data(),
           static_cast<const int*>(src.data()), status.data());
    expect_refused_in_kernel(CHIMEX_ERR_INVALID, refuses ? "heap" : "refuses the call",
                             status.read()[0]);
    pe.barrier();
  });
}

CHIME_KERNEL void move_elements_of(CHIME_GRID_CONSTANT const Context context, std::size_t element,
                                   std::size_t* numbers, std::byte* data, int* statuses) {
  statuses[0] = alltoallsmem(context, Thread{}, CHIME_TEAM_WORLD, data, data, 1, 1, 1, element);
  statuses[1] = alltoallvmem(context, Thread{}, CHIME_TEAM_WORLD, data, numbers, numbers, data,
                             numbers, numbers, element);
}
IN_EVERY_WORLD(Refused, ElementsThatNoTypeHasAre) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::byte> data(64);
    Numbers numbers(pe.size());
    Private<int> statuses(2);
    for (const std::size_t element : {0, 3, 12, 32}) {
      pe.run(1, 1, move_elements_of, pe.context(), element, numbers.all(0), data.data(),
             statuses.data());
      EXPECT_EQ(CHIMEX_ERR_INVALID, statuses.read()[0]) << element;
      // An alltoallv moves elements of any size, as bytes.
      EXPECT_EQ(element == 0 ? CHIMEX_ERR_INVALID : CHIMEX_OK, statuses.read()[1]) << element;
    }
    pe.barrier();
  });
}

IN_EVERY_WORLD(Refused, StridesBelowOneAre) {
  world.spawn(1, [](Pe& pe) {
    const auto n = static_cast<std::size_t>(pe.size());
    Symmetric<int> src(4 * n), dst(4 * n);
    for (const std::ptrdiff_t stride : {std::ptrdiff_t{0}, std::ptrdiff_t{-1}, PTRDIFF_MIN}) {
      EXPECT_EQ(CHIMEX_ERR_INVALID, chime_int_alltoalls(CHIME_TEAM_WORLD, dst, src, stride, 1, 2));
      EXPECT_EQ(CHIMEX_ERR_INVALID, chime_int_alltoalls(CHIME_TEAM_WORLD, dst, src, 1, stride, 2));
    }
    EXPECT_EQ(CHIMEX_ERR_INVALID,
              chime_int_alltoalls(CHIME_TEAM_WORLD, dst, src, PTRDIFF_MAX, 1, 2));
    EXPECT_EQ(CHIMEX_OK, chime_int_alltoalls(CHIME_TEAM_WORLD, dst, src, 2, 1, 2));
    pe.barrier();
  });
}

CHIME_KERNEL void broadcast_of(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                               int* dst, const int* src, int root, int* status) {
  *status = broadcastmem(context, Thread{}, team, dst, src, sizeof(int), root);
}
IN_EVERY_WORLD(Refused, RootsOfKernelsAreNamed) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<int> src(1), dst(1);
    Private<int> status(1);
    pe.run(1, 1, broadcast_of, pe.context(), CHIME_TEAM_WORLD, dst.data(),
           static_cast<const int*>(src.data()), 99, status.data());
    EXPECT_EQ(CHIMEX_ERR_INVALID, status.read()[0]);
    chimex_async_error_t error;
    EXPECT_EQ(CHIMEX_OK, chimex_get_async_error(&error));
    EXPECT_EQ(CHIMEX_ERR_INVALID, error.status);
    pe.barrier();
  });
}

// In a checked job, by a size, a root or the call itself: each finds a member that differs.
IN_EVERY_WORLD(Unalike, CallsAreNamedOnAllMembers) {
  world.spawn(2, [](Pe& pe) {
    const int n = pe.size();
    Symmetric<int> src(8), dst(8 * static_cast<std::size_t>(n));
    const bool differs = pe.rank() == n - 1;
    const auto expect = [&](const char* ours, const char* theirs, auto call) {
      const Made team(CHIME_TEAM_WORLD, {"whole", 0, 1, n});
      const std::string words = std::string("makes another call in lane 2: ") +
                                (differs ? theirs : ours) + "; all members";
      expect_refused(CHIMEX_ERR_MISMATCH, words.c_str(),
                     [&] { return call(chimex_team_lane(team, 2)); }());
      pe.barrier();
      expect_refused(CHIMEX_ERR_MISMATCH, "meets no more", chime_team_sync(team));
      pe.barrier();
    };
    // Each text has the other member's call first.
    expect(
        "chime_reduce of 32 bytes, and this PE chime_reduce of 16 bytes",
        "chime_reduce of 16 bytes, and this PE chime_reduce of 32 bytes",
        [&](chime_team_t team) { return chime_int_sum_reduce(team, dst, src, differs ? 8 : 4); });
    expect(
        "chime_broadcast of 4 bytes from root 1, and this PE chime_broadcast of 4 bytes from root "
        "0",
        "chime_broadcast of 4 bytes from root 0, and this PE chime_broadcast of 4 bytes from root "
        "1",
        [&](chime_team_t team) { return chime_int_broadcast(team, dst, src, 1, differs ? 1 : 0); });
    const char* const alike = "with another operation or type of elements";
    expect(alike, alike, [&](chime_team_t team) {
      return differs ? chime_int_sum_reduce(team, dst, src, 1)
                     : chime_int_max_reduce(team, dst, src, 1);
    });
    expect(alike, alike, [&](chime_team_t team) {
      auto* const as_float = reinterpret_cast<float*>(dst.data());
      return differs ? chime_int_sum_reduce(team, dst, src, 1)
                     : chime_float_sum_reduce(team, as_float, as_float, 1);
    });
    expect("chime_collect, and this PE chime_reduce of 4 bytes",
           "chime_reduce of 4 bytes, and this PE chime_collect", [&](chime_team_t team) {
             return differs ? chime_int_collect(team, dst, src, 1)
                            : chime_int_sum_reduce(team, dst, src, 1);
           });
  });
}

IN_EVERY_WORLD(Unalike, RootsOfKernelsAreNamed) {
  world.spawn(2, [](Pe& pe) {
    Symmetric<int> src(1), dst(1);
    Private<int> status(1);
    const Made team(CHIME_TEAM_WORLD, {"whole", 0, 1, pe.size()});
    const bool differs = pe.rank() == pe.size() - 1;
    pe.barrier();
    pe.run(1, 1, broadcast_of, pe.context(), static_cast<chime_team_t>(team), dst.data(),
           static_cast<const int*>(src.data()), differs ? 1 : 0, status.data());
    expect_refused_in_kernel(
        CHIMEX_ERR_MISMATCH,
        differs ? "4 bytes from root 0, and this PE" : "4 bytes from root 1, and this PE",
        status.read()[0]);
    pe.barrier();
  });
}

// Called where waits are short: PE 0 skips a call.
IN_EVERY_WORLD(Absent, MemberIsNamed) {
  if (short_timeout_s() == 0) GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s";
  world.spawn(2, [](Pe& pe) {
    const int n = pe.size();
    Symmetric<int> src(2), dst(2);
    chime_team_t left = CHIME_TEAM_INVALID;
    ASSERT_EQ(CHIMEX_OK,
              chime_team_split_strided(CHIME_TEAM_WORLD, n - 1, -1, n, nullptr, 0, &left));
    if (pe.rank() == 0) {
      sleep(short_timeout_s());  // as long as the others wait before they come to the next call
    } else {
      expect_refused(CHIMEX_ERR_TIMEOUT, "the wait for PE 0, rank 1 of team ",
                     chime_int_sum_reduce(left, dst, src, 1));
      EXPECT_NE(nullptr, std::strstr(chimex_last_error(), "reduce")) << chimex_last_error();
      expect_refused(CHIMEX_ERR_TIMEOUT, "meets no more",
                     chime_int_broadcast(chimex_team_lane(left, 1), dst, src, 1, 0));
    }
    EXPECT_EQ(CHIMEX_OK, chime_int_sum_reduce(CHIME_TEAM_WORLD, dst, src, 1));
    pe.barrier();
  });
}

// The one that has not come, whoever waits for it through others. Where no stores reach the member
// that is awaited, this PE cannot see for which one that waits.
std::string words_by_doubling(int me, int absent, bool is_mapped) {
  if (is_mapped || (me ^ absent) == 1) return "the wait for PE " + std::to_string(absent) + ",";
  return "or for one of PEs " + std::to_string(absent & ~1) + "-" + std::to_string(absent | 1);
}
IN_EVERY_WORLD(Absent, MemberIsNamedThoughOthersWaitForItToo) {
  const char* const doubling = std::getenv("CHIME_COLL_DOUBLING");
  if (short_timeout_s() == 0 || doubling == nullptr || std::strcmp(doubling, "2") != 0)
    GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s and CHIME_COLL_DOUBLING=2";
  world.spawn(4, [](Pe& pe) {
    const int me = pe.rank();
    if (pe.size() != 4) GTEST_SKIP() << "groups of two PEs";
    Symmetric<int> src(2), dst(2);
    for (const int absent : {0, 2, 3}) {
      chime_team_t team = CHIME_TEAM_INVALID;  // it is none after the call, so it stays
      ASSERT_EQ(CHIMEX_OK,
                chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team));
      const bool is_mapped = chime_ptr(dst, me ^ 2) != nullptr;
      if (me == absent) {
        sleep(short_timeout_s());
      } else {
        const std::string words = words_by_doubling(me, absent, is_mapped);
        expect_refused(CHIMEX_ERR_TIMEOUT, words.c_str(), chime_int_sum_reduce(team, dst, src, 1));
      }
      pe.barrier();
    }
  });
}

// A broadcast by a tree comes through others: to PE 3 from PE 2, which gets it from the root.
IN_EVERY_WORLD(Absent, RootIsNamedThoughOthersWaitForItToo) {
  if (short_timeout_s() == 0) GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s";
  world.spawn(4, [](Pe& pe) {
    if (pe.size() != 4) GTEST_SKIP() << "a tree of three levels";
    Symmetric<int> src(1), dst(1);
    Private<int> status(1);
    for (const int root : {0, 3}) {
      chime_team_t team = CHIME_TEAM_INVALID;  // it is none after the call, so it stays
      ASSERT_EQ(CHIMEX_OK,
                chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team));
      const int distance = (pe.rank() + 4 - root) % 4, parent = (root + 2) % 4;
      const bool is_seen = distance != 3 || chime_ptr(dst, parent) != nullptr;
      if (distance == 0) {
        sleep(short_timeout_s());
      } else {
        const std::string words = is_seen
                                      ? "the wait for PE " + std::to_string(root) + ","
                                      : "the wait for PE " + std::to_string(parent) + ", rank " +
                                            std::to_string(parent) + " of " + std::string("team ");
        if (root == 0) {
          expect_refused(CHIMEX_ERR_TIMEOUT, words.c_str(),
                         chime_int_broadcast(team, dst, src, 1, root));
          EXPECT_EQ(!is_seen,
                    std::strstr(chimex_last_error(), "or for one nearer to the root") != nullptr)
              << chimex_last_error();
        } else {
          pe.run(1, 1, broadcast_of, pe.context(), team, dst.data(),
                 static_cast<const int*>(src.data()), root, status.data());
          expect_refused_in_kernel(CHIMEX_ERR_TIMEOUT, words.c_str(), status.read()[0]);
        }
      }
      pe.barrier();
    }
  });
}
// In a barrier by rounds each PE hears of most others through a third.
IN_EVERY_WORLD(Absent, MemberOfABarrierMayBeAnotherOneThanTheAwaited) {
  if (short_timeout_s() == 0) GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s";
  world.spawn(4, [](Pe& pe) {
    if (pe.size() != 4) GTEST_SKIP() << "two rounds";
    Symmetric<int> word(1);
    chime_team_t team = CHIME_TEAM_INVALID;  // it is none after the call, so it stays
    ASSERT_EQ(CHIMEX_OK,
              chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team));
    bool is_direct = true;
    for (int other = 0; other < 4; ++other) is_direct = is_direct && chime_ptr(word, other);
    if (pe.rank() == 0) {
      sleep(short_timeout_s());
    } else {
      const bool hears_itself = is_direct || pe.rank() != 3;  // PE 3 from PE 2, then from PE 1
      const std::string words = "the wait for PE " + std::string(hears_itself ? "0," : "1,");
      expect_refused(CHIMEX_ERR_TIMEOUT, words.c_str(), chime_team_sync(team));
      EXPECT_EQ(!is_direct && pe.rank() != 1,
                std::strstr(chimex_last_error(), "or for another member, for which") != nullptr)
          << chimex_last_error();
    }
    pe.barrier();
  });
}

// By nodes a member of the same node may wait for it, too.
IN_EVERY_WORLD(Absent, MemberIsNamedThoughItIsOnAnotherNode) {
  const char* const fcollect = std::getenv("CHIME_COLL_FCOLLECT");
  if (short_timeout_s() == 0 || fcollect == nullptr || std::strcmp(fcollect, "nodes") != 0)
    GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s and CHIME_COLL_FCOLLECT=nodes";
  world.spawn(4, [](Pe& pe) {
    const int me = pe.rank();
    if (pe.size() != 4) GTEST_SKIP() << "two nodes of two PEs";
    Symmetric<int> src(1), dst(4);
    for (const int absent : {0, 3}) {
      chime_team_t team = CHIME_TEAM_INVALID;  // it is none after the call, so it stays
      ASSERT_EQ(CHIMEX_OK,
                chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team));
      ASSERT_EQ(CHIMEX_OK, chime_int_fcollect(team, dst, src, 1)) << chimex_last_error();
      if (me == absent) {
        sleep(short_timeout_s());
      } else {
        const std::string words = "the wait for PE " + std::to_string(absent) + ",";
        expect_refused(CHIMEX_ERR_TIMEOUT, words.c_str(), chime_int_fcollect(team, dst, src, 1));
      }
      pe.barrier();
    }
  });
}

}  // namespace
}  // namespace chime::tests
