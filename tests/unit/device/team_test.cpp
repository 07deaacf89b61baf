// What a kernel knows of the predefined teams, in jobs of one node and of several, and what the
// meetings of a team return.
#include "chime/device/coll/team.cuh"

#include <gtest/gtest.h>

#include "fake_job.hpp"

namespace chime::tests {
namespace {

constexpr chime_team_t kNoTeam = 17;

// PE 2 of 4, two on a node; it has mapped PE 3 alone.
class TwoNodes : public testing::Test {
 protected:
  TwoNodes() {
    Context& ctx = job.context(2);
    ctx.pe.node_my_pe = 0;
    ctx.pe.node_n_pes = 2;
    ctx.pe.on_error = OnError::kReturn;
    job.unmap(0);
    job.unmap(1);
  }

  const Context& ctx() { return job.context(2); }
  // Whether that was an error with this status.
  bool failed(chimex_status status) {
    abi::ErrorRecord& error = job.error(2);
    const bool is_told = error.claimed != 0 && error.status == status;
    error = {};
    return is_told;
  }

  FakeJob job{4};
};

TEST_F(TwoNodes, AKernelKnowsWhereItStands) {
  EXPECT_EQ(team_my_pe(ctx(), CHIME_TEAM_WORLD), 2);
  EXPECT_EQ(team_n_pes(ctx(), CHIME_TEAM_WORLD), 4);
  EXPECT_EQ(team_my_pe(ctx(), CHIME_TEAM_SHARED), 0);
  EXPECT_EQ(team_n_pes(ctx(), CHIME_TEAM_SHARED), 2);
  EXPECT_EQ(team_my_pe(ctx(), CHIMEX_TEAM_NODE), 0);
  EXPECT_EQ(team_n_pes(ctx(), CHIMEX_TEAM_NODE), 2);
  EXPECT_EQ(team_translate_pe(ctx(), CHIME_TEAM_SHARED, 1, CHIME_TEAM_WORLD), 3);
  EXPECT_EQ(team_translate_pe(ctx(), CHIME_TEAM_WORLD, 3, CHIME_TEAM_SHARED), 1);
  EXPECT_EQ(team_translate_pe(ctx(), CHIME_TEAM_WORLD, 1, CHIME_TEAM_SHARED), -1);
  EXPECT_EQ(team_translate_pe(ctx(), CHIMEX_TEAM_NODE, 0, CHIME_TEAM_WORLD), 2);
  EXPECT_EQ(team_translate_pe(ctx(), CHIMEX_TEAM_NODE, 2, CHIME_TEAM_WORLD), -1);
  EXPECT_EQ(job.error(2).claimed, 0u);
}

TEST_F(TwoNodes, WhatAKernelDoesNotKnowIsAnError) {
  EXPECT_EQ(team_translate_pe(ctx(), CHIMEX_TEAM_NODE, 1, CHIME_TEAM_WORLD), -1);
  EXPECT_TRUE(failed(CHIMEX_ERR_UNSUPPORTED));
  EXPECT_EQ(team_translate_pe(ctx(), CHIME_TEAM_WORLD, 3, CHIMEX_TEAM_NODE), -1);
  EXPECT_TRUE(failed(CHIMEX_ERR_UNSUPPORTED));
  EXPECT_EQ(team_my_pe(ctx(), CHIMEX_TEAM_SAME_MYPE_NODE), -1);
  EXPECT_TRUE(failed(CHIMEX_ERR_UNSUPPORTED));
  EXPECT_EQ(team_n_pes(ctx(), CHIMEX_TEAM_SAME_MYPE_NODE), -1);
  EXPECT_TRUE(failed(CHIMEX_ERR_UNSUPPORTED));
  EXPECT_EQ(team_my_pe(ctx(), kNoTeam), -1);
  EXPECT_TRUE(failed(CHIMEX_ERR_INVALID));
}

TEST_F(TwoNodes, NothingIsAMemberOfTheInvalidTeam) {
  EXPECT_EQ(team_my_pe(ctx(), CHIME_TEAM_INVALID), -1);
  EXPECT_EQ(team_n_pes(ctx(), CHIME_TEAM_INVALID), -1);
  EXPECT_EQ(team_translate_pe(ctx(), CHIME_TEAM_INVALID, 0, CHIME_TEAM_WORLD), -1);
  EXPECT_EQ(team_translate_pe(ctx(), CHIMEX_TEAM_NODE, 1, CHIME_TEAM_INVALID), -1);
  EXPECT_EQ(job.error(2).claimed, 0u);
}

TEST_F(TwoNodes, TeamsOfSomePesCannotMeet) {
  for (const chime_team_t team :
       {CHIME_TEAM_SHARED, CHIMEX_TEAM_NODE, CHIMEX_TEAM_SAME_MYPE_NODE}) {
    EXPECT_EQ(team_barrier(ctx(), Thread{}, team), CHIMEX_ERR_UNSUPPORTED) << team;
    EXPECT_TRUE(failed(CHIMEX_ERR_UNSUPPORTED)) << team;
    EXPECT_EQ(team_sync(ctx(), Thread{}, team), CHIMEX_ERR_UNSUPPORTED) << team;
    EXPECT_TRUE(failed(CHIMEX_ERR_UNSUPPORTED)) << team;
  }
  EXPECT_EQ(team_sync(ctx(), Thread{}, CHIME_TEAM_INVALID), CHIMEX_ERR_INVALID);
  EXPECT_TRUE(failed(CHIMEX_ERR_INVALID));
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

}  // namespace
}  // namespace chime::tests
