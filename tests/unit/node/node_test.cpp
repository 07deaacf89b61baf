// A PE's place among the PEs of its node: under every launcher, on one node and on several of
// different sizes, mapped or not. A process-id space of its own is a node of its own, so that one
// machine can be several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bootstrap/node_info.hpp"

namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_code;
  std::string output;
};

Outcome run(const std::string& command) {
  FILE* pipe = popen(("timeout -k 5 60 " + command + " 2>&1").c_str(), "r");
  Outcome outcome{-1, ""};
  std::array<char, 4096> buffer;
  while (std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), got);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// What PE `pe` says when its place is `place`.
std::string says(int pe, const std::string& place) {
  return "PE " + std::to_string(pe) + ": before -1/-1, bootstrapped " + place + ", built " + place +
         ", in a kernel " + place + ", after -1/-1\n";
}

void expect_places(const Outcome& outcome, const std::vector<std::string>& places) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  for (std::size_t pe = 0; pe < places.size(); ++pe)
    EXPECT_THAT(outcome.output, HasSubstr(says(static_cast<int>(pe), places[pe])));
}

std::string chime_run(int n) { return CHIME_RUN " -n " + std::to_string(n) + " --timeout 40 "; }

TEST(Place, IsTheNumberOfNodeMatesWithLowerNumbers) {
  using chime::bootstrap::node_of;
  const std::vector<int> uneven{1, 4, 5, 9};
  for (std::size_t i = 0; i < uneven.size(); ++i) {
    const auto node = node_of(uneven[i], uneven);
    EXPECT_EQ(node.my_pe, static_cast<int>(i));
    EXPECT_EQ(node.n_pes, 4);
    EXPECT_EQ(node.pes, uneven);
  }
  EXPECT_EQ(node_of(7, {7}).my_pe, 0);
  EXPECT_EQ(node_of(7, {7}).n_pes, 1);
}

TEST(Place, OfAPeWithoutALauncherIsTheFirstOfOne) { expect_places(run(CHIME_NODE_PE), {"0/1"}); }

TEST(Place, UnderChimeRunFollowsTheNumber) {
  expect_places(run(chime_run(3) + CHIME_NODE_PE), {"0/3", "1/3", "2/3"});
}

TEST(Place, OfAUniqueIdsThreadsFollowsTheNumber) {
  expect_places(run("env CHIME_BOOTSTRAP_IF=lo " CHIME_NODE_PE " threads"), {"0/3", "1/3", "2/3"});
}

TEST(Place, UnderMpirunFollowsTheNumber) {
  if (std::system("command -v mpirun >/dev/null") != 0) GTEST_SKIP() << "there is no mpirun";
  expect_places(run("mpirun --timeout 40 --oversubscribe -n 3 " CHIME_NODE_PE),
                {"0/3", "1/3", "2/3"});
}

// Whether a peer is mapped is another question than whether it is on this node.
TEST(Place, IsTheSameWherePesAreNotMapped) {
  expect_places(run("env CHIME_P2P=off CHIME_NIC=none " + chime_run(2) + CHIME_NODE_PE),
                {"0/2", "1/2"});
}

// PEs 1 and 3 are nodes by themselves, 0, 2 and 4 are one together.
TEST(Place, OnNodesOfDifferentSizesCountsNodeMatesAlone) {
  const std::string apart = CHIME_ON_ITS_OWN_NODE;
  if (std::system((apart + " true 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "this user may not make a mount namespace (unshare --mount)";
  const std::string pe = "sh -c 'case $CHIME_RUN_PE in 1 | 3) exec " + apart +
                         " " CHIME_NODE_PE ";; *) exec " CHIME_NODE_PE ";; esac'";
  expect_places(run("env CHIME_NIC=none " + chime_run(5) + pe),
                {"0/3", "0/1", "1/3", "0/1", "2/3"});
}

TEST(Place, IsAnErrorThatNamesThePeThatNeverJoined) {
  const std::string pe = "sh -c '[ $CHIME_RUN_PE = 1 ] && exit 3; exec " CHIME_NODE_PE " once'";
  const Outcome outcome =
      run("env CHIME_ON_ERROR=return CHIME_LOG=off " + chime_run(2) + "--keep-going " + pe);
  EXPECT_THAT(outcome.output,
              HasSubstr("place -1: chimex_node_my_pe: finding the node's PEs: which PEs share this "
                        "node: PE 1 is gone"));
}

}  // namespace
