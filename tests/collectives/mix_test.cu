// Calls of all kinds one after another in a lane, and in several lanes at once: by kernels that do
// not wait for each other in between.
#include "chime/device/coll/move.cuh"
#include "chime/device/coll/reduce.cuh"
#include "chime/device/coll/scan.cuh"
#include "chime/device/coll/strided.cuh"
#include "chime/device/coll/team.cuh"
#include "chime/device/coll/uneven.cuh"
#include "collectives/collectives.hpp"

namespace chime::tests {
namespace {

constexpr int kCalls = 66;
// Elements a member: a message that a request does not carry by itself.
constexpr unsigned kWords = 40;

// What a block has on each PE: a source and a destination for each call, because a member that is
// ahead may write for the next one.
struct Room {
  std::uint64_t src[kCalls][kWords * 8];
  std::uint64_t dst[kCalls][kWords * 8];
  std::size_t dst_counts[8], dst_offsets[8], src_counts[8], src_offsets[8];
};

CHIME_DEVICE std::uint64_t element(int call, int member, unsigned i) {
  return static_cast<std::uint64_t>(call) * 1000003 + static_cast<unsigned>(member) * 1009 + i;
}

// Reads a result, and overwrites what it came from: it may change when the call has returned.
template <class Group, class Expected>
CHIME_DEVICE unsigned take(Group g, std::uint64_t* src, unsigned sources, const std::uint64_t* dst,
                           unsigned results, Expected expected) {
  unsigned wrong = 0;
  for (unsigned i = g.rank(); i < results; i += g.size()) wrong += dst[i] != expected(i);
  for (unsigned i = g.rank(); i < sources; i += g.size()) src[i] = ~std::uint64_t{0};
  g.sync();
  return wrong;
}

// Elements that member `from` brings for member `to` in a call.
CHIME_DEVICE unsigned share_of(int call, int from, int to) {
  return static_cast<unsigned>(call + 3 * from + to) % (kWords + 1);
}

// Of what a member brings to a collect: those of the members before it come first.
CHIME_DEVICE std::uint64_t collected(int call, unsigned i) {
  int member = 0;
  for (; i >= share_of(call, member, 0); ++member) i -= share_of(call, member, 0);
  return element(call, member, i);
}

// Each member's share goes to the place of its rank, after room for the most.
template <class Group>
CHIME_DEVICE unsigned move_uneven(const Context& context, Group g, chime_team_t team, Room& room,
                                  int call, int n) {
  const int me = team_my_pe(context, team);
  for (unsigned i = g.rank(); i < static_cast<unsigned>(n); i += g.size()) {
    const int other = static_cast<int>(i);
    room.dst_counts[i] = kWords;
    room.src_counts[i] = share_of(call, me, other);
    room.dst_offsets[i] = room.src_offsets[i] = i * kWords;
  }
  g.sync();
  std::uint64_t* const dst = room.dst[call];
  const int status = alltoallvmem(context, g, team, dst, room.dst_counts, room.dst_offsets,
                                  room.src[call], room.src_counts, room.src_offsets, sizeof(*dst));
  unsigned wrong = status != CHIMEX_OK;
  for (int other = 0; other < n; ++other) {
    const unsigned count = share_of(call, other, me), first = static_cast<unsigned>(other) * kWords;
    wrong += room.dst_counts[other] != count;
    wrong += take(g, room.src[call] + first, kWords, dst + first, count, [&](unsigned i) {
      return element(call, other, static_cast<unsigned>(me) * kWords + i);
    });
  }
  return wrong;
}

// The kinds take turns. Team members are all PEs, in the order of their numbers.
template <class Group>
CHIME_DEVICE unsigned call_once(const Context& context, Group g, chime_team_t team, Room& room,
                                int call, int n) {
  const int me = team_my_pe(context, team);
  std::uint64_t* const src = room.src[call];
  std::uint64_t* const dst = room.dst[call];
  const auto members = static_cast<unsigned>(n);
  const unsigned all = kWords * members;
  for (unsigned i = g.rank(); i < all; i += g.size()) src[i] = element(call, me, i);
  constexpr std::size_t kBytes = kWords * sizeof(std::uint64_t);
  int status = CHIMEX_OK;
  unsigned wrong = 0;
  switch (call % 11) {
    case 0: {
      std::uint64_t* const to = call / 11 % 2 == 0 ? dst : src;  // in place, too
      status = reduce<Sum>(context, g, team, to, src, kWords);
      wrong = take(g, src, kWords, to, kWords, [&](unsigned i) {
        std::uint64_t sum = 0;
        for (int member = 0; member < n; ++member) sum += element(call, member, i);
        return sum;
      });
      break;
    }
    case 1: {
      const int root = call / 11 % n;
      status = broadcastmem(context, g, team, dst, src, kBytes, root);
      wrong = take(g, src, kWords, dst, kWords, [&](unsigned i) { return element(call, root, i); });
      break;
    }
    case 2:
      status = alltoallmem(context, g, team, dst, src, kBytes);
      wrong = take(g, src, all, dst, all, [&](unsigned i) {
        return element(call, static_cast<int>(i / kWords),
                       static_cast<unsigned>(me) * kWords + i % kWords);
      });
      break;
    case 3:
      status = team_sync(context, g, team);
      break;
    case 4:
      status = reducescatter<Max>(context, g, team, dst, src, kWords);
      wrong = take(g, src, all, dst, kWords, [&](unsigned i) {
        return element(call, n - 1, static_cast<unsigned>(me) * kWords + i);
      });
      break;
    case 5:
      status = inscan<Sum>(context, g, team, dst, src, kWords);
      wrong = take(g, src, kWords, dst, kWords, [&](unsigned i) {
        std::uint64_t sum = 0;
        for (int member = 0; member <= me; ++member) sum += element(call, member, i);
        return sum;
      });
      break;
    case 6: {
      unsigned count = 0;
      for (int member = 0; member < n; ++member) count += share_of(call, member, 0);
      status = collectmem(context, g, team, dst, src, share_of(call, me, 0) * sizeof(*src));
      wrong = take(g, src, kWords, dst, count, [&](unsigned i) { return collected(call, i); });
      break;
    }
    case 7: {
      constexpr unsigned kApart = kWords / 2;
      status = alltoallsmem(context, g, team, dst, src, 1, 2, kApart, sizeof(*src));
      wrong = take(g, src, all, dst, kApart * members, [&](unsigned i) {
        const unsigned at = static_cast<unsigned>(me) * kApart + i % kApart;
        return element(call, static_cast<int>(i / kApart), 2 * at);
      });
      break;
    }
    case 8:
      wrong = move_uneven(context, g, team, room, call, n);
      break;
    case 9:
      status = exscan<Max>(context, g, team, dst, src, kWords);
      wrong = take(g, src, kWords, dst, kWords,
                   [&](unsigned i) { return me == 0 ? 0 : element(call, me - 1, i); });
      break;
    default:
      status = fcollectmem(context, g, team, dst, src, kBytes);
      wrong = take(g, src, kWords, dst, all, [&](unsigned i) {
        return element(call, static_cast<int>(i / kWords), i % kWords);
      });
  }
  return wrong + (status != CHIMEX_OK);
}

template <class Group>
CHIME_KERNEL void call_all(CHIME_GRID_CONSTANT const Context context, chime_team_t team,
                           Room* rooms, int n, unsigned* wrong) {
  const Group g{};
  const unsigned block = exec::block_rank();
  const chime_team_t lane = team_lane(context, team, static_cast<int>(block));
  unsigned missed = 0;
  for (int call = 0; call < kCalls; ++call)
    missed += call_once(context, g, lane, rooms[block], call, n);
  if (missed != 0) exec::atomic_add(wrong, missed);
}

template <class Group>
void expect_right(Pe& pe, unsigned blocks) {
  if (pe.size() > 8) GTEST_SKIP() << "rooms have place for 8 PEs";
  Symmetric<Room> rooms(blocks);
  Private<unsigned> wrong(1);
  const Made team(CHIME_TEAM_WORLD, {"whole", 0, 1, pe.size()});
  exec::LaunchConfig config;
  config.grid = blocks;
  config.block = kGroupThreads<Group>;
  config.cooperative = true;
  pe.barrier();
  pe.run(config, call_all<Group>, pe.context(), team, rooms.data(), pe.size(), wrong.data());
  EXPECT_EQ(0u, wrong.read()[0]);
  pe.barrier();
}

IN_EVERY_WORLD(Mix, OfKindsAgainAndAgainInALane) {
  world.spawn(1, [](Pe& pe) {
    expect_right<Thread>(pe, 1);
    expect_right<Block>(pe, 1);
  });
}

IN_EVERY_WORLD(Mix, OfLanesAtOnce) {
  world.spawn(1, [](Pe& pe) { expect_right<Warp>(pe, 4); });
}

// Turn after turn, with nothing between them: a member that is ahead must not write into a slot
// that another one still reads, nor take what came in an earlier turn.
constexpr int kTurns = 400;
constexpr unsigned kFew = 2;     // elements: between mapped PEs they go as words
constexpr unsigned kLong = 100;  // elements: they fit a slot of eight members
CHIME_KERNEL void reduce_often(CHIME_GRID_CONSTANT const Context context, std::uint64_t* src,
                               std::uint64_t* dst, unsigned length, int n, unsigned* wrong) {
  const auto me = static_cast<unsigned>(context.pe.my_pe), members = static_cast<unsigned>(n);
  for (unsigned turn = 1; turn <= kTurns; ++turn) {
    for (unsigned i = 0; i < length; ++i) src[i] = turn * 1000 + me + i;
    const int status = reduce<Sum>(context, Thread{}, CHIME_TEAM_WORLD, dst, src, length);
    for (unsigned i = 0; i < length; ++i) {
      const std::uint64_t sum = members * (turn * 1000 + i) + members * (members - 1) / 2;
      if (status != CHIMEX_OK || dst[i] != sum) ++*wrong;
    }
  }
}
void expect_right_turns(Pe& pe, unsigned length) {
  Symmetric<std::uint64_t> src(kLong), dst(kLong);
  Private<unsigned> wrong(1);
  pe.barrier();
  pe.run(1, 1, reduce_often, pe.context(), src.data(), dst.data(), length, pe.size(), wrong.data());
  EXPECT_EQ(0u, wrong.read()[0]);
  pe.barrier();
}
IN_EVERY_WORLD(Mix, OfTurnsBackToBack) {
  world.spawn(2, [](Pe& pe) {
    expect_right_turns(pe, kLong);
    expect_right_turns(pe, kFew);
  });
}

// Others store to a `dst` at once, and again when they have met its reader in the reduction, whose
// words order nothing by themselves. So reading it must have been released (under TSan).
CHIME_KERNEL void gather_and_reduce(CHIME_GRID_CONSTANT const Context context, Room* room,
                                    unsigned* wrong) {
  const Thread g;
  const int me = context.pe.my_pe, n = context.pe.n_pes;
  std::uint64_t *const own = room->src[0], *const all = room->dst[0];
  for (int call = 0; call < kCalls; ++call) {
    for (unsigned i = 0; i < kWords; ++i) own[i] = element(call, me, i);
    *wrong += fcollectmem(context, g, CHIME_TEAM_WORLD, all, own, sizeof(*own) * kWords) != 0;
    for (unsigned i = 0; i < kWords * static_cast<unsigned>(n); ++i)
      *wrong += all[i] != element(call, static_cast<int>(i / kWords), i % kWords);
    std::uint64_t *const one = room->src[1], *const most = room->dst[1];
    *one = static_cast<unsigned>(call * n + me);
    *wrong += reduce<Max>(context, g, CHIME_TEAM_WORLD, most, one, 1) != 0;
    *wrong += *most != static_cast<unsigned>(call * n + n - 1);
  }
}
IN_EVERY_WORLD(Mix, OfLongAndShortCallsWithOneDstForEach) {
  world.spawn(1, [](Pe& pe) {
    if (pe.size() > 8) GTEST_SKIP() << "rooms have place for 8 PEs";
    Symmetric<Room> room(1);
    Private<unsigned> wrong(1);
    pe.barrier();
    pe.run(1, 1, gather_and_reduce, pe.context(), room.data(), wrong.data());
    EXPECT_EQ(0u, wrong.read()[0]);
    pe.barrier();
  });
}

// As if 2^32 - 1 turns had been, and turns 2 and 3 had left words that no later turn replaced.
CHIME_KERNEL void age(CHIME_GRID_CONSTANT const Context context, int n) {
  abi::SyncArea& area = context.teams.entries[0].areas[0];
  const chime::detail::Meeting meeting(CHIME_TEAM_WORLD, Operation::kReduce);
  for (const unsigned turn : {2u, 3u}) {
    area.turn = turn;  // chooses the half
    for (unsigned rank = 0; rank < static_cast<unsigned>(n); ++rank) {
      std::uint64_t* const words = chime::detail::words_of(context, meeting, rank);
      for (unsigned i = 0; i < 2 * kFew; ++i) words[i] = std::uint64_t{turn} << 32 | 12345u;
    }
  }
  area.turn = 0xffff'ffff;
}
// Words have 32 bits of a turn's number: those that earlier turns left must not be taken again.
IN_EVERY_WORLD(Mix, OfTurnsWhoseNumbersInWordsComeAgain) {
  world.spawn(2, [](Pe& pe) {
    pe.barrier();
    pe.run(1, 1, age, pe.context(), pe.size());
    expect_right_turns(pe, kFew);
  });
}

// In every length around that of a word, and from addresses that are no multiple of it.
IN_EVERY_WORLD(Mix, OfBytesThatFillNoWord) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kMost = 21;
    const auto n = static_cast<std::size_t>(pe.size());
    Symmetric<char> src(kMost + 3), dst(kMost * n + 3);
    std::vector<char> mine(kMost + 3);
    for (std::size_t i = 0; i < mine.size(); ++i)
      mine[i] = static_cast<char>(16 * pe.rank() + static_cast<int>(i));
    src.write(mine);
    pe.barrier();
    for (std::size_t bytes = 1; bytes <= kMost; ++bytes) {
      const std::size_t from = bytes % 4, to = bytes / 4 % 4;
      ASSERT_EQ(CHIMEX_OK,
                chime_char_fcollect(CHIME_TEAM_WORLD, dst.data() + to, src.data() + from, bytes));
      for (std::size_t i = 0; i < bytes * n; ++i) {
        const std::size_t at = from + i % bytes;
        ASSERT_EQ(static_cast<char>(16 * static_cast<int>(i / bytes) + static_cast<int>(at)),
                  dst.read(to + i))
            << bytes << " bytes, byte " << i;
      }
      pe.barrier();
    }
  });
}

}  // namespace
}  // namespace chime::tests
