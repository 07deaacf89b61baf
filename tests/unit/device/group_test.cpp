#include "chime/device/group.cuh"

#include <gtest/gtest.h>

#include <vector>

#include "fake_job.hpp"

namespace chime::tests {
namespace {

struct Seen {
  unsigned rank, size;
  bool leader, any_of_one, any_of_none;
};

template <class Group>
CHIME_KERNEL void look(Seen* seen) {
  Group g;
  const bool last = g.rank() == g.size() - 1;
  seen[exec::thread_rank()] = {g.rank(), g.size(), g.is_leader(), g.any(last), g.any(false)};
}

template <class Group>
std::vector<Seen> looks(unsigned threads) {
  std::vector<Seen> seen(threads);
  run_block(threads, look<Group>, seen.data());
  return seen;
}

TEST(Group, ThreadIsAlone) {
  for (const Seen& s : looks<Thread>(40)) {
    EXPECT_EQ(s.rank, 0u);
    EXPECT_EQ(s.size, 1u);
    EXPECT_TRUE(s.leader);
  }
}

TEST(Group, WarpOfAPartlyFilledBlockHasTheLanesThatExist) {
  const std::vector<Seen> seen = looks<Warp>(70);
  for (unsigned t = 0; t < 70; ++t) {
    EXPECT_EQ(seen[t].rank, t % 32);
    EXPECT_EQ(seen[t].size, t < 64 ? 32u : 6u);
    EXPECT_EQ(seen[t].leader, t % 32 == 0);
  }
}

TEST(Group, BlockHasAllThreads) {
  const std::vector<Seen> seen = looks<Block>(70);
  for (unsigned t = 0; t < 70; ++t) {
    EXPECT_EQ(seen[t].rank, t);
    EXPECT_EQ(seen[t].size, 70u);
    EXPECT_EQ(seen[t].leader, t == 0);
  }
}

TEST(Group, AnyReachesEveryMember) {
  for (const auto& seen : {looks<Thread>(33), looks<Warp>(33), looks<Block>(33)}) {
    for (const Seen& s : seen) {
      EXPECT_TRUE(s.any_of_one);
      EXPECT_FALSE(s.any_of_none);
    }
  }
}

}  // namespace
}  // namespace chime::tests
