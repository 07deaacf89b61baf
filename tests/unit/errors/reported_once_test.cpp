#include "host/errors/reported_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace chime::host {
namespace {

int times_told(ReportedOnce& abort, int pe) {
  int times = 0;
  abort.report(pe, [&] { ++times; });
  return times;
}

TEST(ReportedOnce, ReportsEachPeOnce) {
  ReportedOnce abort;
  EXPECT_EQ(times_told(abort, 0), 1);
  EXPECT_EQ(times_told(abort, 0), 0);
  EXPECT_EQ(times_told(abort, 3), 1);
  EXPECT_EQ(times_told(abort, 0), 0) << "as before another one was lost";
}

TEST(ReportedOnce, AnAbortThatNoPeCausedIsReported) {
  ReportedOnce abort;
  EXPECT_EQ(times_told(abort, -1), 1);
  EXPECT_EQ(times_told(abort, -1), 0);
}

// Memory for the message may run out.
TEST(ReportedOnce, AReportThatThrewIsRepeated) {
  ReportedOnce abort;
  EXPECT_THROW(abort.report(1, [] { throw std::runtime_error("no words"); }), std::runtime_error);
  EXPECT_EQ(times_told(abort, 1), 1);
  EXPECT_EQ(times_told(abort, 1), 0);
}

// If a thread ended the process because another one had begun the report, it would end silently.
TEST(ReportedOnce, NoThreadReturnsBeforeTheReport) {
  for (int round = 0; round < 50; ++round) {
    ReportedOnce abort;
    std::atomic<bool> has_begun{false}, is_told{false};
    std::thread watcher([&] {
      abort.report(1, [&] {
        has_begun = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        is_told = true;
      });
    });
    while (!has_begun) std::this_thread::yield();
    abort.report(1, [] {});
    EXPECT_TRUE(is_told);
    watcher.join();
  }
}

}  // namespace
}  // namespace chime::host
