// The process of an endpoint info: never another one, however many fields are equal.
#include "bootstrap/process_endpoint_info.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace chime::bootstrap {
namespace {

TEST(ProcessEndpointInfo, IsOfThisProcessInEachOfItsThreads) {
  const ProcessEndpointInfo endpoint_info = endpoint_info_of_this_process();
  EXPECT_TRUE(is_of_this_process(endpoint_info));
  bool in_a_thread = false;
  std::thread([&] {
    in_a_thread =
        is_of_this_process(endpoint_info) && is_of_this_process(endpoint_info_of_this_process());
  }).join();
  EXPECT_TRUE(in_a_thread);
}

// As in separate process-id namespaces (containers): the same number, and even the same start time.
TEST(ProcessEndpointInfo, OfAnEqualNumberElsewhereIsNotOfThisProcess) {
  ProcessEndpointInfo other = endpoint_info_of_this_process();
  other.nonce = net::random_token();
  EXPECT_FALSE(is_of_this_process(other));
}

TEST(ProcessEndpointInfo, WithAnythingElseIsNotOfThisProcess) {
  ProcessEndpointInfo other = endpoint_info_of_this_process();
  ++other.start_time;
  EXPECT_FALSE(is_of_this_process(other));
  other = endpoint_info_of_this_process();
  ++other.pid;
  EXPECT_FALSE(is_of_this_process(other));
  other = endpoint_info_of_this_process();
  other.space[0] ^= 1;
  EXPECT_FALSE(is_of_this_process(other));
}

TEST(ProcessEndpointInfo, OfAParentIsNotOfItsForkedChild) {
  const ProcessEndpointInfo parents = endpoint_info_of_this_process();
  const pid_t child = fork();
  if (child == 0) _exit(is_of_this_process(parents) ? 1 : 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace chime::bootstrap
