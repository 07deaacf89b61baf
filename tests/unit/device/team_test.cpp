// Teams in kernels: their members, the results of calls, and how calls that cannot meet fail.
// Members wait only for members. Handles, entries and areas are made by hand.
#include "chime/device/coll/team.cuh"

#include <gtest/gtest.h>

#include <atomic>

#include "chime/device/coll/agree.cuh"
#include "chime/device/coll/timed.cuh"
#include "fake_job.hpp"

namespace chime::tests {
namespace {

constexpr chime_team_t kNoTeam = 17;
constexpr chime_team_t kTeam = abi::team_handle(3, 5);

chime_team_t lane(chime_team_t team, int number) { return team | number << abi::kTeamIndexBits; }

// PEs 2, 0 and 3 of four, in this order.
class Threesome : public testing::Test {
 protected:
  Threesome() {
    job.add_team(kTeam, pes);
    for (int pe = 0; pe < 4; ++pe) job.context(pe).pe.on_error = OnError::kReturn;
  }
  abi::SyncArea& area(int pe, int lane = 0) { return job.team(pe, kTeam).areas[lane]; }
  bool failed(int pe, chimex_status status, Fault fault) {
    abi::ErrorRecord& error = job.error(pe);
    const bool is_told = error.claimed != 0 && error.status == status &&
                         error.fault == static_cast<std::uint16_t>(fault);
    error = {};
    return is_told;
  }

  const std::vector<std::int32_t> pes = {2, 0, 3};
  FakeJob job{4};
};

TEST(Handle, HasItsParts) {
  const std::int32_t handle = abi::team_handle(4095, 2047) | 255 << abi::kTeamIndexBits;
  EXPECT_EQ(handle, 0x7fffffff);
  EXPECT_EQ(abi::team_index(handle), 4095);
  EXPECT_EQ(abi::team_lane(handle), 255);
  EXPECT_EQ(abi::team_generation(handle), 2047);
  EXPECT_EQ(abi::team_without_lane(handle), abi::team_handle(4095, 2047));
  EXPECT_EQ(abi::team_index(kTeam), 3);
}

TEST_F(Threesome, EachMemberHasItsPlace) {
  for (int rank = 0; rank < 3; ++rank) {
    const Context& ctx = job.context(pes[static_cast<std::size_t>(rank)]);
    for (const chime_team_t handle : {kTeam, lane(kTeam, 1)}) {
      EXPECT_EQ(team_my_pe(ctx, handle), rank);
      EXPECT_EQ(team_n_pes(ctx, handle), 3);
    }
    EXPECT_EQ(team_my_pe(ctx, CHIME_TEAM_WORLD), ctx.pe.my_pe);
    EXPECT_EQ(team_n_pes(ctx, CHIME_TEAM_WORLD), 4);
    EXPECT_EQ(team_translate_pe(ctx, kTeam, 2, CHIME_TEAM_WORLD), 3);
    EXPECT_EQ(team_translate_pe(ctx, CHIME_TEAM_WORLD, 2, kTeam), 0);
    EXPECT_EQ(team_translate_pe(ctx, CHIME_TEAM_WORLD, 1, kTeam), -1);
    EXPECT_EQ(team_translate_pe(ctx, kTeam, 3, CHIME_TEAM_WORLD), -1);
    EXPECT_EQ(team_translate_pe(ctx, kTeam, -1, CHIME_TEAM_WORLD), -1);
    EXPECT_EQ(job.error(ctx.pe.my_pe).claimed, 0u);
  }
}

TEST_F(Threesome, WhatIsNoTeamIsAnError) {
  const chime_team_t other_generation = abi::team_handle(3, 4);
  for (const chime_team_t team :
       {kNoTeam, chime_team_t{6}, other_generation, lane(kTeam, 2), chime_team_t{-2}}) {
    const Context& ctx = job.context(2);
    EXPECT_EQ(team_my_pe(ctx, team), -1) << team;
    EXPECT_TRUE(failed(2, CHIMEX_ERR_INVALID, Fault::kTeam)) << team;
    EXPECT_EQ(team_n_pes(ctx, team), -1) << team;
    EXPECT_TRUE(failed(2, CHIMEX_ERR_INVALID, Fault::kTeam)) << team;
    EXPECT_EQ(team_translate_pe(ctx, CHIME_TEAM_WORLD, 0, team), -1) << team;
    EXPECT_TRUE(failed(2, CHIMEX_ERR_INVALID, Fault::kTeam)) << team;
    EXPECT_EQ(team_sync(ctx, Thread{}, team), CHIMEX_ERR_INVALID) << team;
    EXPECT_TRUE(failed(2, CHIMEX_ERR_INVALID, Fault::kTeam)) << team;
    EXPECT_EQ(team_barrier(ctx, Thread{}, team), CHIMEX_ERR_INVALID) << team;
    EXPECT_TRUE(failed(2, CHIMEX_ERR_INVALID, Fault::kTeam)) << team;
  }
}

TEST_F(Threesome, APeOutsideIsInNoSuchTeam) {
  EXPECT_EQ(team_my_pe(job.context(1), kTeam), -1);
  EXPECT_TRUE(failed(1, CHIMEX_ERR_INVALID, Fault::kTeam));
  EXPECT_EQ(team_sync(job.context(1), Thread{}, kTeam), CHIMEX_ERR_INVALID);
  EXPECT_TRUE(failed(1, CHIMEX_ERR_INVALID, Fault::kTeam));
}

TEST_F(Threesome, NothingIsAMemberOfTheInvalidTeam) {
  const Context& ctx = job.context(2);
  EXPECT_EQ(team_my_pe(ctx, CHIME_TEAM_INVALID), -1);
  EXPECT_EQ(team_n_pes(ctx, CHIME_TEAM_INVALID), -1);
  EXPECT_EQ(team_translate_pe(ctx, CHIME_TEAM_INVALID, 0, CHIME_TEAM_WORLD), -1);
  EXPECT_EQ(team_translate_pe(ctx, kTeam, 1, CHIME_TEAM_INVALID), -1);
  EXPECT_EQ(team_ptr(ctx, CHIME_TEAM_INVALID, job.data<int>(2), 0), nullptr);
  EXPECT_EQ(job.error(2).claimed, 0u);
  EXPECT_EQ(team_sync(ctx, Thread{}, CHIME_TEAM_INVALID), CHIMEX_ERR_INVALID);
  EXPECT_TRUE(failed(2, CHIMEX_ERR_INVALID, Fault::kTeam));
}

TEST_F(Threesome, APointerIsTheMembers) {
  const Context& ctx = job.context(0);
  EXPECT_EQ(team_ptr(ctx, kTeam, job.data<int>(0, 8), 2), job.data<int>(3, 8));
  EXPECT_EQ(team_ptr(ctx, kTeam, job.data<int>(0, 8), 3), nullptr);
  EXPECT_EQ(team_ptr(ctx, kTeam, job.data<int>(0, 8), -1), nullptr);
  job.unmap(3);
  EXPECT_EQ(team_ptr(ctx, kTeam, job.data<int>(0, 8), 2), nullptr);
}

TEST_F(Threesome, ALaneIsAHandle) {
  const Context& ctx = job.context(2);
  EXPECT_EQ(team_lane(ctx, kTeam, 1), lane(kTeam, 1));
  EXPECT_EQ(team_lane(ctx, lane(kTeam, 1), 0), kTeam);
  EXPECT_EQ(team_lane(ctx, kTeam, kFakeLanes), CHIME_TEAM_INVALID);
  EXPECT_EQ(team_lane(ctx, kTeam, -1), CHIME_TEAM_INVALID);
  EXPECT_EQ(team_lane(ctx, CHIME_TEAM_INVALID, 0), CHIME_TEAM_INVALID);
}

// ---- Meetings -----------------------------------------------------------------------------------

CHIME_KERNEL void meet_often(Context ctx, chime_team_t team, int turns, int* successes) {
  for (int turn = 0; turn < turns; ++turn) {
    if (team_barrier(ctx, Block{}, team) == CHIMEX_OK) exec::atomic_add(successes, 1);
    if (team_sync(ctx, Block{}, team) == CHIMEX_OK) exec::atomic_add(successes, 1);
  }
}

TEST_F(Threesome, MeetsWithoutTheOther) {
  int successes = 0;
  job.run([&](int pe) {
    if (pe != 1) run_block(32, meet_often, job.context(pe), kTeam, 10, &successes);
  });
  EXPECT_EQ(successes, 3 * 32 * 2 * 10);
  for (const int pe : pes) {
    EXPECT_EQ(area(pe).epoch, 20u);
    EXPECT_EQ(area(pe, 1).epoch, 0u);
    EXPECT_EQ(job.team(pe, 0).areas->epoch, 0u);
  }
}

// Two blocks of each PE, one in each lane: a PE's block in lane 1 comes after nine meetings of its
// own in lane 0, which would be impossible if the lanes shared an area.
CHIME_KERNEL void meet_in_both_lanes(Context ctx, std::atomic<int>* turns, int* successes) {
  const auto mine = static_cast<int>(exec::block_rank());
  for (int turn = 0; turn < 10; ++turn) {
    if (mine == 1 && turn == 0) {
      while (turns->load() < 9) exec::pause();
    }
    if (team_sync(ctx, Block{}, lane(kTeam, mine)) == CHIMEX_OK) exec::atomic_add(successes, 1);
    if (mine == 0) turns->store(turn + 1);
  }
}

TEST_F(Threesome, LanesMeetApart) {
  int successes = 0;
  std::atomic<int> turns[4] = {};
  job.run([&](int pe) {
    if (pe == 1) return;
    exec::LaunchConfig config;
    config.grid = 2;
    config.cooperative = true;
    ASSERT_EQ(exec::launch(config, meet_in_both_lanes, job.context(pe), turns + pe, &successes),
              CHIMEX_OK);
    ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  });
  EXPECT_EQ(successes, 3 * 2 * 10);
}

// An entry of an earlier team: the values of that team's last meeting end no wait of this one.
TEST_F(Threesome, MeetingsCountFromTheTeamsFirst) {
  constexpr std::uint64_t kFirst = std::uint64_t{7} << 40;
  for (const int pe : pes) {
    job.team(pe, kTeam).first_epoch = kFirst;
    area(pe).epoch = kFirst - 1;
    for (auto& flag : area(pe).flags) flag.arrived = kFirst - 1;
  }
  job.context(2).pe.wait_timeout_ns = 20'000'000;
  EXPECT_EQ(team_sync(job.context(2), Thread{}, kTeam), CHIMEX_ERR_ABORTED);
  EXPECT_TRUE(failed(2, CHIMEX_ERR_TIMEOUT, Fault::kWait));
  EXPECT_EQ(area(2).epoch, kFirst + 1);
}

// ---- Failures -----------------------------------------------------------------------------------

TEST_F(Threesome, ATimeOutNamesMemberAndTeamAndEndsIt) {
  Context& ctx = job.context(2);
  ctx.pe.wait_timeout_ns = 20'000'000;  // no other PE comes
  EXPECT_EQ(team_barrier(ctx, Thread{}, lane(kTeam, 1)), CHIMEX_ERR_ABORTED);
  EXPECT_EQ(job.error(2).pe, 3);
  EXPECT_EQ(job.error(2).address, reinterpret_cast<std::uint64_t>(&area(2, 1).flags[0].arrived));
  EXPECT_TRUE(failed(2, CHIMEX_ERR_TIMEOUT, Fault::kWait));
  for (const chime_team_t handle : {kTeam, lane(kTeam, 1)}) {
    EXPECT_EQ(team_sync(ctx, Thread{}, handle), CHIMEX_ERR_ABORTED);
    EXPECT_EQ(job.error(2).pe, 3);
    EXPECT_TRUE(failed(2, CHIMEX_ERR_TIMEOUT, Fault::kTeamFailed));
  }
  // Another team of the PE goes on.
  const std::vector<std::int32_t> alone = {2};
  job.add_team(abi::team_handle(4, 1), alone);
  EXPECT_EQ(team_sync(ctx, Thread{}, abi::team_handle(4, 1)), CHIMEX_OK);
}

TEST_F(Threesome, ABoundOfTheCallsOwnIsNoErrorAndIsTheNextCallsNoMore) {
  Context& ctx = job.context(2);
  EXPECT_EQ(team_barrier_timeout(ctx, Thread{}, kTeam, 20'000'000), CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(job.error(2).claimed, 0u);
  EXPECT_EQ(area(2).deadline_ns, 0u);
  EXPECT_EQ(team_sync_timeout(ctx, Thread{}, kTeam, 20'000'000), CHIMEX_ERR_ABORTED);
  EXPECT_EQ(job.error(2).pe, 3);
  EXPECT_TRUE(failed(2, CHIMEX_ERR_TIMEOUT, Fault::kTeamFailed));
}

// Its status is a timeout, too, where another PE's wait has ended the job.
TEST_F(Threesome, AnAbortIsNotTheCallsOwnBound) {
  job.abort_word().status = CHIMEX_ERR_TIMEOUT;
  job.abort_word().pe = 1;
  __atomic_store_n(&job.abort_word().raised, 2u, __ATOMIC_RELEASE);
  EXPECT_EQ(team_barrier_timeout(job.context(0), Thread{}, kTeam, 0), CHIMEX_ERR_ABORTED);
  EXPECT_TRUE(failed(0, CHIMEX_ERR_TIMEOUT, Fault::kWait));
}

TEST_F(Threesome, ADeadPeEndsTheWaitsOfItsTeams) {
  job.bury(3);
  __atomic_store_n(&job.abort_word().first_dead, 4u, __ATOMIC_RELEASE);
  EXPECT_EQ(team_sync(job.context(0), Thread{}, kTeam), CHIMEX_ERR_ABORTED);
  EXPECT_EQ(job.error(0).pe, 3);
  EXPECT_TRUE(failed(0, CHIMEX_ERR_PEER_DEAD, Fault::kWait));
}

TEST_F(Threesome, ADeadPeElsewhereEndsNoWait) {
  job.bury(1);
  __atomic_store_n(&job.abort_word().first_dead, 2u, __ATOMIC_RELEASE);
  Context& ctx = job.context(0);
  ctx.pe.wait_timeout_ns = 50'000'000;
  EXPECT_EQ(team_sync(ctx, Thread{}, kTeam), CHIMEX_ERR_ABORTED);
  EXPECT_TRUE(failed(0, CHIMEX_ERR_TIMEOUT, Fault::kWait));
}

// The second dead PE is a member; the first, which the job names, is none.
TEST_F(Threesome, TheSecondDeadPeEndsTheWaitsOfItsTeams) {
  job.bury(1);
  job.bury(2);
  __atomic_store_n(&job.abort_word().first_dead, 2u, __ATOMIC_RELEASE);
  job.context(0).pe.wait_timeout_ns = 2'000'000'000;
  EXPECT_EQ(team_sync(job.context(0), Thread{}, kTeam), CHIMEX_ERR_ABORTED);
  EXPECT_EQ(job.error(0).pe, 2);
  EXPECT_TRUE(failed(0, CHIMEX_ERR_PEER_DEAD, Fault::kWait));
}

// A strided team, and a PE that lies between its members.
TEST(StridedTeam, CountsItsMembersAlone) {
  abi::Team team;
  team.start = 5;
  team.stride = -2;
  team.size = 3;  // 5, 3, 1
  for (const auto& [pe, rank] :
       {std::pair(5, 0), {3, 1}, {1, 2}, {7, -1}, {4, -1}, {-1, -1}, {2, -1}, {6, -1}})
    EXPECT_EQ(detail::rank_in(team, pe), rank) << pe;
  for (unsigned rank = 0; rank < 3; ++rank)
    EXPECT_EQ(detail::pe_of(team, rank), 5 - 2 * static_cast<int>(rank));
}

TEST_F(Threesome, InACheckedJobASecondCallInALaneIsNamed) {
  Context& ctx = job.context(2);
  ctx.pe.checked = 1;
  area(2).in_use = 1;  // another thread is in it
  EXPECT_EQ(team_sync(ctx, Thread{}, kTeam), CHIMEX_ERR_ABORTED);
  EXPECT_EQ(job.error(2).expected, static_cast<std::uint64_t>(kTeam));
  EXPECT_TRUE(failed(2, CHIMEX_ERR_INVALID, Fault::kTeamInUse));
  EXPECT_EQ(area(2).failed, 0u);  // the first call goes on
  EXPECT_EQ(area(2).epoch, 0u);
  area(2).in_use = 0;
  int successes = 0;
  job.run([&](int pe) {
    job.context(pe).pe.checked = 1;
    if (pe != 1) run_block(1, meet_often, job.context(pe), kTeam, 3, &successes);
  });
  EXPECT_EQ(successes, 3 * 2 * 3);
  EXPECT_EQ(area(2).in_use, 0u);
}

// Two blocks of PE 2 in one lane. The others come after one block was refused: so the other's call,
// which began first, still waits.
CHIME_KERNEL void meet_and_count(Context ctx, std::atomic<int>* met, std::atomic<int>* refused) {
  ++*(team_sync(ctx, Block{}, kTeam) == CHIMEX_OK ? met : refused);
}
TEST_F(Threesome, InACheckedJobTheSecondOfTwoBlocksInALaneIsRefused) {
  std::atomic<int> met = 0, refused = 0;
  for (const int pe : pes) job.context(pe).pe.checked = 1;
  job.run([&](int pe) {
    if (pe == 1) return;
    exec::LaunchConfig config;
    config.grid = pe == 2 ? 2 : 1;
    config.cooperative = true;
    while (pe != 2 && refused == 0) std::this_thread::yield();
    ASSERT_EQ(exec::launch(config, meet_and_count, job.context(pe), &met, &refused), CHIMEX_OK);
    ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  });
  EXPECT_EQ(met, 3);
  EXPECT_EQ(refused, 1);
  EXPECT_TRUE(failed(2, CHIMEX_ERR_INVALID, Fault::kTeamInUse));
  EXPECT_EQ(area(2).epoch, 1u);
}

// Each message of a meeting sets a separate flag.
int messages_of(const std::vector<const abi::SyncArea*>& areas, std::uint64_t epoch) {
  int messages = 0;
  for (const abi::SyncArea* const each : areas)
    for (const auto& flag : each->flags) messages += flag.arrived == epoch ? 1 : 0;
  return messages;
}
TEST(Messages, OfATeamAreThoseOfAJobOfItsSize) {
  for (const auto& [size, each] : {std::pair(1, 0), {2, 1}, {3, 2}, {4, 2}, {5, 3}, {7, 3}}) {
    FakeJob whole(size), part(8);
    std::vector<std::int32_t> members;
    for (int pe = 7; pe > 7 - size; --pe) members.push_back(pe);
    part.add_team(kTeam, members);
    whole.run([&](int pe) { sync_all(whole.context(pe), Thread{}); });
    part.run([&](int pe) {
      if (pe >= members.back()) team_sync(part.context(pe), Thread{}, kTeam);
    });
    std::vector<const abi::SyncArea*> of_job, of_team;
    for (int pe = 0; pe < size; ++pe) of_job.push_back(whole.team(pe, 0).areas);
    for (const int pe : members) of_team.push_back(part.team(pe, kTeam).areas);
    EXPECT_EQ(messages_of(of_job, 1), size * each) << size;
    EXPECT_EQ(messages_of(of_team, 1), size * each) << size;
  }
}
// Two phases: 2 ceil(log2(members)) a PE.
TEST(Messages, OfTheMakingOfATeamAreThoseOfTwoMeetings) {
  for (const auto& [size, each] : {std::pair(2, 1), {3, 2}, {4, 2}, {8, 3}}) {
    FakeJob job(size);
    std::vector<const abi::SyncArea*> areas;
    for (int pe = 0; pe < size; ++pe) {
      job.team(pe, 0).agreement = job.data<std::uint64_t>(pe, 64 * 1024);
      areas.push_back(job.team(pe, 0).areas + kFakeLanes);
    }
    job.run([&](int pe) { ASSERT_TRUE(detail::agree(job.context(pe), job.team(pe, 0), 3)); });
    EXPECT_EQ(messages_of(areas, 1), size * each) << size;
    job.run([&](int pe) { ASSERT_TRUE(detail::confirm(job.context(pe), job.team(pe, 0))); });
    EXPECT_EQ(messages_of(areas, 2), size * each) << size;
  }
}

CHIME_KERNEL void meet(Context ctx, int* successes) {
  if (team_barrier(ctx, Block{}, CHIME_TEAM_WORLD) == CHIMEX_OK) exec::atomic_add(successes, 1);
  if (team_sync(ctx, Block{}, CHIME_TEAM_WORLD) == CHIMEX_OK) exec::atomic_add(successes, 1);
}

TEST(Meeting, OfAllReturnsSuccessToEveryThread) {
  FakeJob job(2);
  int successes = 0;
  job.run([&](int pe) { run_block(32, meet, job.context(pe), &successes); });
  EXPECT_EQ(successes, 2 * 2 * 32);
}

TEST(Meeting, ThatFailsReturnsNoSuccess) {
  FakeJob job(2);
  int successes = 0;
  job.context().pe.on_error = OnError::kReturn;
  job.context().pe.wait_timeout_ns = 20'000'000;  // PE 1 never comes
  run_block(32, meet, job.context(), &successes);
  EXPECT_EQ(successes, 0);
  EXPECT_EQ(job.error().status, CHIMEX_ERR_TIMEOUT);
}

// ---- Agreement ----------------------------------------------------------------------------------

// Each of n PEs has its own number and lacks a bit of its own; all agree, turn after turn.
void expect_agreement(int n_pes) {
  constexpr unsigned kWords = 3;
  FakeJob job(n_pes);
  for (int pe = 0; pe < n_pes; ++pe)
    job.team(pe, 0).agreement = job.data<std::uint64_t>(pe, 64 * 1024);
  job.run([&](int pe) {
    const Context& ctx = job.context(pe);
    std::uint64_t* const words = job.team(ctx.pe.my_pe, 0).agreement;
    for (std::uint64_t turn = 0; turn < 50; ++turn) {
      words[0] = (static_cast<std::uint64_t>(pe) * 7 + turn) % 11;
      words[1] = ~(std::uint64_t{1} << pe) ^ turn << 32;
      words[2] = pe == static_cast<int>(turn) % n_pes ? 1 : ~std::uint64_t{0};
      ASSERT_TRUE(detail::agree(ctx, job.team(ctx.pe.my_pe, 0), kWords));
      std::uint64_t largest = 0;
      for (int other = 0; other < n_pes; ++other)
        largest = std::max(largest, (static_cast<std::uint64_t>(other) * 7 + turn) % 11);
      EXPECT_EQ(words[0], largest) << "of PE " << pe << " in turn " << turn;
      EXPECT_EQ(words[1], ~((std::uint64_t{1} << n_pes) - 1) ^ turn << 32);
      EXPECT_EQ(words[2], 1u);
    }
  });
  for (int pe = 0; pe < n_pes; ++pe) {
    EXPECT_EQ(job.team(pe, 0).areas[kFakeLanes].epoch, 50u);
    EXPECT_EQ(job.team(pe, 0).areas->epoch, 0u);
  }
}

TEST(Agreement, IsTheLargestNumberAndTheCommonBits) {
  for (const int n_pes : {1, 2, 3, 4, 5, 7, 8}) expect_agreement(n_pes);
}
TEST(Agreement, IsSoInWeakMemory) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    WeakMemory weak(seed);
    expect_agreement(3);
  }
}

// PE 1's arrival comes, but its words do not.
TEST(Agreement, FailsWithoutThePeersWords) {
  FakeJob job(2);
  for (int pe = 0; pe < 2; ++pe) {
    job.team(pe, 0).agreement = job.data<std::uint64_t>(pe, 64 * 1024);
    job.context(pe).pe.on_error = OnError::kReturn;
  }
  job.run([&](int pe) {
    const Context& ctx = job.context(pe);
    const bool ends_well =
        pe == 1 ? detail::confirm(ctx, job.team(1, 0)) : detail::agree(ctx, job.team(0, 0), 3);
    EXPECT_EQ(ends_well, pe == 1);
  });
  EXPECT_EQ(job.error(0).status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.error(0).pe, 1);
}

// If one member has not agreed, the other confirms nothing.
TEST(Agreement, IsNotConfirmedWithoutAMember) {
  FakeJob job(2);
  Context& ctx = job.context();
  ctx.pe.on_error = OnError::kReturn;
  ctx.pe.wait_timeout_ns = 20'000'000;
  EXPECT_FALSE(detail::confirm(ctx, job.team(0, 0)));
  EXPECT_EQ(job.error().status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(job.error().pe, 1);
}

TEST(Agreement, ThatFailsEndsNoMeetings) {
  FakeJob job(2);
  Context& ctx = job.context();
  job.team(ctx.pe.my_pe, 0).agreement = job.data<std::uint64_t>(0, 64 * 1024);
  ctx.pe.on_error = OnError::kReturn;
  ctx.pe.wait_timeout_ns = 20'000'000;  // PE 1 never comes
  EXPECT_FALSE(detail::agree(ctx, job.team(ctx.pe.my_pe, 0), 3));
  EXPECT_EQ(job.error().operation, static_cast<unsigned>(Operation::kTeamSplit));
  EXPECT_NE(job.team(0, 0).areas[kFakeLanes].failed, 0u);
  EXPECT_EQ(job.team(0, 0).areas->failed, 0u);
}

}  // namespace
}  // namespace chime::tests
