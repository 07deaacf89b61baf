// A PE's place among the PEs of its node: under every launcher, on one node and on several of
// different sizes, mapped or not. Another boot or another network namespace is a separate node, so
// that one machine can be several.
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

using ::testing::ContainsRegex;
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

// The line of PE `pe` for this place.
std::string says(int pe, const std::string& place) {
  return "PE " + std::to_string(pe) + ": before -1/-1, bootstrapped " + place + ", built " + place +
         ", in a kernel " + place + ", after -1/-1\n";
}

void expect_places(const Outcome& outcome, const std::vector<std::string>& places) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  for (std::size_t pe = 0; pe < places.size(); ++pe)
    EXPECT_THAT(outcome.output, HasSubstr(says(static_cast<int>(pe), places[pe])));
}

bool can_run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

std::string chime_run(int n) { return CHIME_RUN " -n " + std::to_string(n) + " --timeout 40 "; }
std::string mpirun(int n) {
  return "mpirun --allow-run-as-root --oversubscribe --bind-to none --timeout 40 -n " +
         std::to_string(n) + " ";
}

TEST(Place, IsTheNumberOfLocalPeersWithLowerNumbers) {
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
  if (!can_run("command -v mpirun")) GTEST_SKIP() << "there is no mpirun";
  expect_places(run(mpirun(3) + CHIME_NODE_PE), {"0/3", "1/3", "2/3"});
}

// A peer may be on this node without being mapped.
TEST(Place, IsTheSameWherePesAreNotMapped) {
  expect_places(run("env CHIME_P2P=off CHIME_NIC=none " + chime_run(2) + CHIME_NODE_PE),
                {"0/2", "1/2"});
}

// A PE's command: PEs whose number, the variable `number`, is in `chosen` ("1 | 3") run under
// `apart`.
std::string some_apart(const std::string& number, const std::string& chosen,
                       const std::string& apart) {
  return "sh -c 'case $" + number + " in " + chosen + ") exec " + apart +
         " " CHIME_NODE_PE ";; *) exec " CHIME_NODE_PE ";; esac'";
}

// PEs 1 and 3 are separate nodes, 0, 2 and 4 are one node together.
TEST(Place, OnNodesOfDifferentSizesCountsLocalPeersAlone) {
  if (!can_run(CHIME_ON_ITS_OWN_NODE " true"))
    GTEST_SKIP() << "this user may not make a mount namespace (unshare --mount)";
  expect_places(run("env CHIME_NIC=none " + chime_run(5) +
                    some_apart("CHIME_RUN_PE", "1 | 3", CHIME_ON_ITS_OWN_NODE)),
                {"0/3", "0/1", "1/3", "0/1", "2/3"});
}

// The launcher takes them all for PEs of one host.
TEST(Place, UnderMpirunCountsPesOfThisKernelAlone) {
  if (!can_run("command -v mpirun")) GTEST_SKIP() << "there is no mpirun";
  if (!can_run(CHIME_ON_ITS_OWN_NODE " true"))
    GTEST_SKIP() << "this user may not make a mount namespace (unshare --mount)";
  expect_places(run("env CHIME_NIC=none " + mpirun(5) +
                    some_apart("PMIX_RANK", "1 | 3", CHIME_ON_ITS_OWN_NODE)),
                {"0/3", "0/1", "1/3", "0/1", "2/3"});
}

// Containers of one host, without a network between them: init takes them for two nodes, and the
// first PE that needs the other reports the reason.
TEST(Place, UnderMpirunCountsPesOfThisNetworkNamespaceAlone) {
  if (!can_run("command -v mpirun")) GTEST_SKIP() << "there is no mpirun";
  if (!can_run(CHIME_IN_ITS_OWN_NETWORK " true"))
    GTEST_SKIP() << "this user may not make a network namespace";
  const Outcome outcome =
      run("env CHIME_NIC=none CHIME_ON_ERROR=return CHIME_INIT_TIMEOUT=4 CHIME_TIMEOUT=8 " +
          mpirun(2) + some_apart("PMIX_RANK", "1", CHIME_IN_ITS_OWN_NETWORK));
  expect_places(outcome, {"0/1", "0/1"});
  EXPECT_THAT(outcome.output,
              ContainsRegex("chime_finalize: .*PE 0 is lost to the side channel: it cannot be "
                            "reached: .*network namespaces .containers. of one, need a network"));
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
