// Lanes that reach a call site together form one group, so that warp-aggregated code runs as on a
// GPU.
#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

#include "chime/device/exec/exec.cuh"
#include "chime/device/simt/launch/options.hpp"

namespace {

using namespace chime;

struct Groups {
  unsigned mask[64] = {};     // by thread: the group it was in
  std::uint64_t counter = 0;  // aggregated increments
  unsigned atomics = 0;       // number of atomics for that
};

// One atomic per group: the leader adds for all and gives the others their starts.
CHIME_DEVICE unsigned aggregated_increment(Groups* groups) {
  const unsigned mask = exec::active_mask();
  const unsigned leader = static_cast<unsigned>(std::countr_zero(mask));
  std::uint64_t first = 0;
  if (exec::lane_id() == leader) {
    first = exec::atomic_add(&groups->counter, static_cast<std::uint64_t>(std::popcount(mask)));
    exec::atomic_add(&groups->atomics, 1u);
  }
  exec::shfl(mask, first, static_cast<int>(leader));
  return mask;
}

CHIME_KERNEL void first_lanes(Groups* groups, unsigned lanes) {
  if (exec::lane_id() < lanes) groups->mask[exec::thread_rank()] = aggregated_increment(groups);
}

// Lanes below `split` take one site, the others another. (The code around the second differs, or a
// compiler would make one site of the two.)
CHIME_KERNEL void two_sites(Groups* groups, unsigned split) {
  const unsigned rank = exec::thread_rank();
  if (exec::lane_id() < split) {
    groups->mask[rank] = exec::active_mask();
  } else {
    exec::atomic_add(&groups->atomics, 1u);
    groups->mask[rank] = exec::active_mask();
    exec::atomic_add(&groups->atomics, 1u);
  }
}

// Lane 0 waits for an action of the others after the site.
CHIME_KERNEL void one_lane_waits(Groups* groups) {
  if (exec::lane_id() == 0) {
    while (exec::ld<exec::Order::kAcquire>(&groups->counter) != 31) exec::pause();
  } else {
    groups->mask[exec::thread_rank()] = aggregated_increment(groups);
  }
}

Groups run(std::uint64_t seed, unsigned threads, auto kernel, auto... arguments) {
  simt::Options options = simt::options();
  options.seed = seed;
  simt::set_options(options);
  Groups groups;
  exec::LaunchConfig config;
  config.block = threads;
  EXPECT_EQ(exec::launch(config, kernel, &groups, arguments...), CHIMEX_OK);
  EXPECT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  options.seed = 0;
  simt::set_options(options);
  return groups;
}

unsigned first_mask(unsigned lanes) { return lanes == 32 ? ~0u : (1u << lanes) - 1; }

class GroupsOf : public testing::TestWithParam<unsigned> {};

TEST_P(GroupsOf, LanesAtOneSiteAreOneGroup) {
  const unsigned lanes = GetParam();
  const Groups groups = run(0, 64, first_lanes, lanes);
  for (unsigned rank = 0; rank < 64; ++rank) {
    EXPECT_EQ(groups.mask[rank], rank % 32 < lanes ? first_mask(lanes) : 0) << rank;
  }
  EXPECT_EQ(groups.counter, 2 * lanes);
  EXPECT_EQ(groups.atomics, 2u);
}

TEST_P(GroupsOf, SitesDoNotMix) {
  const unsigned lanes = GetParam();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Groups groups = run(seed, 64, two_sites, lanes);
    for (unsigned rank = 0; rank < 64; ++rank) {
      const unsigned mine = rank % 32 < lanes ? first_mask(lanes) : ~first_mask(lanes);
      EXPECT_EQ(groups.mask[rank] & ~mine, 0u) << "seed " << seed << " thread " << rank;
      EXPECT_TRUE(groups.mask[rank] >> rank % 32 & 1);
      EXPECT_TRUE(seed != 0 || groups.mask[rank] == mine);
    }
  }
}

TEST_P(GroupsOf, SeedsSplitThem) {
  const unsigned lanes = GetParam();
  std::set<unsigned> sizes;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Groups groups = run(seed, 32, first_lanes, lanes);
    EXPECT_EQ(groups.counter, lanes);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned mask = groups.mask[lane];
      sizes.insert(static_cast<unsigned>(std::popcount(mask)));
      for (unsigned other = 0; other < lanes; ++other) {  // all members agree
        EXPECT_TRUE(!(mask >> other & 1) || groups.mask[other] == mask) << "seed " << seed;
      }
    }
  }
  EXPECT_TRUE(sizes.contains(1));
  EXPECT_TRUE(sizes.contains(lanes)) << "never all " << lanes << " lanes together";
  EXPECT_GE(sizes.size(), std::min(lanes, 20u));
}

INSTANTIATE_TEST_SUITE_P(Lanes, GroupsOf, testing::Values(1u, 5u, 31u, 32u));

TEST(ConvergedGroups, DoNotWaitForALaneThatIsElsewhere) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Groups groups = run(seed, 32, one_lane_waits);
    EXPECT_EQ(groups.counter, 31u);
    EXPECT_TRUE(seed != 0 || groups.mask[5] == ~1u);
  }
}

// A loop whose lanes leave one by one: the groups shrink.
CHIME_KERNEL void leave_one_by_one(Groups* groups) {
  for (unsigned i = 0; i <= exec::lane_id(); ++i) aggregated_increment(groups);
}

TEST(ConvergedGroups, ShrinkAsLanesLeave) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Groups groups = run(seed, 32, leave_one_by_one);
    EXPECT_EQ(groups.counter, 32u * 33 / 2);
    EXPECT_TRUE(seed != 0 || groups.atomics == 32u);
  }
}

}  // namespace
