// The conditions for two processes to be one node, and for one to watch the other. Separate
// namespaces need root; where they cannot be made, the tests are skipped.
#include "bootstrap/place.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace chime::bootstrap {
namespace {

constexpr int kNotPermitted = 77;

// The exit code of a child in a separate namespace.
template <class Question>
int in_a_space_of_its_own(int space, Question question) {
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(space) != 0) _exit(kNotPermitted);
    // A process-id namespace begins with the next child.
    const pid_t grandchild = space == CLONE_NEWPID ? fork() : 0;
    if (grandchild == 0) _exit(question());
    int status = 0;
    waitpid(grandchild, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

#define ASK_IN_A_SPACE(answer, space, question)              \
  const int answer = in_a_space_of_its_own(space, question); \
  if (answer == kNotPermitted) GTEST_SKIP() << "unshare takes root"

TEST(Place, ProcessesOfOneProcessIdSpaceOrTwoAreOneNode) {
  const std::string node = name_of_this_node();
  ASK_IN_A_SPACE(is_same, CLONE_NEWPID, [&] { return name_of_this_node() == node; });
  EXPECT_EQ(is_same, 1);
}

TEST(Place, NetworkNamespacesOfOneKernelAreTwoNodes) {
  const std::string node = name_of_this_node();
  ASK_IN_A_SPACE(is_same, CLONE_NEWNET, [&] { return name_of_this_node() == node; });
  EXPECT_EQ(is_same, 0);
}

TEST(Place, ProcessesOfTwoProcessIdSpacesDoNotWatchEachOther) {
  const std::string space = name_of_this_process_space();
  ASK_IN_A_SPACE(is_same, CLONE_NEWPID, [&] { return name_of_this_process_space() == space; });
  EXPECT_EQ(is_same, 0);
}

TEST(Place, AChildIsWhereItsParentIs) {
  const std::string node = name_of_this_node(), space = name_of_this_process_space();
  const int is_same = in_a_space_of_its_own(
      0, [&] { return name_of_this_node() == node && name_of_this_process_space() == space; });
  EXPECT_EQ(is_same, 1);
}

}  // namespace
}  // namespace chime::bootstrap
