// barrier_all and the barriers of teams imply quiet.
#include "chime/device/coll/team.cuh"
#include "ordering/litmus.hpp"

namespace chime::tests {
namespace {

// The sender puts, meets all PEs in a barrier, then raises a flag by a plain put.
struct PutBarrierPut : AwaitFlag {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_nbi(context, group, box->messages[round - 1], source, kMessageWords, next);
    barrier_all(context, group);
    if (group.is_leader()) p(context, &box->flag, Word(round), next);
  }
};

IN_EVERY_WORLD(Barrier, CompletesPutsBeforeAFlagBehindIt) {
  world.spawn(1, [](Pe& pe) { expect_ordered_in_every_group<PutBarrierPut>(pe); });
}

// The same in a lane of a team of all PEs, backwards: the first one that the program has made.
struct PutTeamBarrierPut : AwaitFlag {
  template <class Group>
  CHIME_DEVICE static void send(const Context& context, Group group, Box* box, const Word* source,
                                int round, int next) {
    put_nbi(context, group, box->messages[round - 1], source, kMessageWords, next);
    const chime_team_t made = context.teams.entries[7].handle;
    team_barrier(context, group, team_lane(context, made, 3));
    if (group.is_leader()) p(context, &box->flag, Word(round), next);
  }
};

IN_EVERY_WORLD(Barrier, OfATeamCompletesPutsBeforeAFlagBehindIt) {
  world.spawn(1, [](Pe& pe) {
    chime_team_t reversed = CHIME_TEAM_INVALID;
    ASSERT_EQ(CHIMEX_OK, chime_team_split_strided(CHIME_TEAM_WORLD, pe.size() - 1, -1, pe.size(),
                                                  nullptr, 0, &reversed));
    ASSERT_EQ(7, reversed & 4095);
    expect_ordered_in_every_group<PutTeamBarrierPut>(pe);
    chime_team_destroy(reversed);
  });
}

// No flag: after the barrier the group that took part in it has the data.
template <class Group>
CHIME_KERNEL void put_barrier_read(CHIME_GRID_CONSTANT const Context context, Box* box,
                                   const Word* source, const Word* expected, unsigned* wrong,
                                   int next, int) {
  Group group{};
  for (int round = 1; round <= kLitmusRounds; ++round) {
    put_nbi(context, group, box->messages[round - 1], source + (round - 1) * kMessageWords,
            kMessageWords, next);
    barrier_all(context, group);
    check_message(group, box, expected, round, wrong);
  }
}

IN_EVERY_WORLD(Barrier, ShowsThePutsToEveryMember) {
  world.spawn(1, [](Pe& pe) {
    count_missing(pe, put_barrier_read<Thread>, 1, kGroupThreads<Thread>, false);
    count_missing(pe, put_barrier_read<Warp>, 1, kGroupThreads<Warp>, false);
    count_missing(pe, put_barrier_read<Block>, 1, kGroupThreads<Block>, false);
  });
}

}  // namespace
}  // namespace chime::tests
