// Failed launches that two threads have not checked: each thread has its own.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "chime/abi/launch_status.h"

namespace chime::exec::detail {
namespace {

std::string told() {
  testing::internal::CaptureStderr();
  tell_unseen_launch_errors();
  return testing::internal::GetCapturedStderr();
}

TEST(UnseenLaunches, AreClearedOnlyForTheThreadThatQueries) {
  launch_failed_unseen("a grid that is too large");
  std::thread([] {
    launch_failed_unseen("a grid that is too large");
    launch_errors_are_asked_for();
  }).join();
  EXPECT_NE(told().find("a grid that is too large"), std::string::npos)
      << "this thread has not asked";
  EXPECT_EQ(told(), "") << "once";
}

TEST(UnseenLaunches, OfTheSameWordsAreOfEachThread) {
  launch_failed_unseen("a block that is too large");
  std::thread([] { launch_failed_unseen("a block that is too large"); }).join();
  launch_errors_are_asked_for();
  EXPECT_NE(told().find("a block that is too large"), std::string::npos)
      << "the other thread has not asked";
}

}  // namespace
}  // namespace chime::exec::detail
