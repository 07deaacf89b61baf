#include "host/errors/told_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace chime::host {
namespace {

int times_told(ToldOnce& abort, int pe) {
  int times = 0;
  abort.tell_of(pe, [&] { ++times; });
  return times;
}

TEST(ToldOnce, TellsOfEachPeOnce) {
  ToldOnce abort;
  EXPECT_EQ(times_told(abort, 0), 1);
  EXPECT_EQ(times_told(abort, 0), 0);
  EXPECT_EQ(times_told(abort, 3), 1);
  EXPECT_EQ(times_told(abort, 0), 0) << "as before another one was lost";
}

TEST(ToldOnce, AnAbortThatNobodyIsToBlameForIsTold) {
  ToldOnce abort;
  EXPECT_EQ(times_told(abort, -1), 1);
  EXPECT_EQ(times_told(abort, -1), 0);
}

// There may be no memory for the words.
TEST(ToldOnce, WhatWasThrownWhileItWasToldIsToldAgain) {
  ToldOnce abort;
  EXPECT_THROW(abort.tell_of(1, [] { throw std::runtime_error("no words"); }), std::runtime_error);
  EXPECT_EQ(times_told(abort, 1), 1);
  EXPECT_EQ(times_told(abort, 1), 0);
}

// A thread that ended the process because another one had begun to say why would end it in silence.
TEST(ToldOnce, NobodyReturnsBeforeItIsTold) {
  for (int round = 0; round < 50; ++round) {
    ToldOnce abort;
    std::atomic<bool> has_begun{false}, is_told{false};
    std::thread watcher([&] {
      abort.tell_of(1, [&] {
        has_begun = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        is_told = true;
      });
    });
    while (!has_begun) std::this_thread::yield();
    abort.tell_of(1, [] {});
    EXPECT_TRUE(is_told);
    watcher.join();
  }
}

}  // namespace
}  // namespace chime::host
