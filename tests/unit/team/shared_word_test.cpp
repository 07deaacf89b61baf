// A word on whose changes threads and processes wait asleep: no sleeper misses a change.
#include "host/peers/shared_word.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace chime::host {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLong = 30s;    // the length of an undisturbed sleep
constexpr auto kAtOnce = 15s;  // on a machine that is busy

struct Words {
  std::uint64_t word = 0;
  std::uint32_t sleepers = 0;
};

void wait_for(const Words& words, std::uint32_t sleepers) {
  const std::atomic_ref count(const_cast<std::uint32_t&>(words.sleepers));
  while (count.load() != sleepers) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);  // from its registration to its sleep
}

TEST(SharedWord, AllThatSleepAreWoken) {
  Words words;
  SharedWord word(words.word, words.sleepers);
  const auto begin = Clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { word.sleep_while(0, kLong); });
  wait_for(words, 3);
  EXPECT_TRUE(word.replace(0, 5));
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(Clock::now() - begin, kAtOnce);
  EXPECT_EQ(word.load(), 5u);
  EXPECT_EQ(words.sleepers, 0u);
}

TEST(SharedWord, AnotherProcessIsWokenToo) {
  void* const memory =
      mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Words& words = *static_cast<Words*>(memory);
  const auto begin = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    SharedWord(words.word, words.sleepers).sleep_while(0, kLong);
    _exit(0);
  }
  wait_for(words, 1);
  EXPECT_TRUE(SharedWord(words.word, words.sleepers).replace(0, 1));
  waitpid(child, nullptr, 0);
  EXPECT_LT(Clock::now() - begin, kAtOnce);
}

TEST(SharedWord, IsReplacedOnlyWhereItHasTheExpectedValue) {
  Words words;
  SharedWord word(words.word, words.sleepers);
  EXPECT_FALSE(word.replace(1, 2));
  EXPECT_EQ(word.load(), 0u);
  EXPECT_TRUE(word.replace(0, 1));
  EXPECT_FALSE(word.replace(0, 2));
  EXPECT_EQ(word.load(), 1u);
}

TEST(SharedWord, NoSleepForWhatHasHappenedNorBeyondTheLimit) {
  Words words;
  SharedWord word(words.word, words.sleepers);
  const auto begin = Clock::now();
  word.sleep_while(3, kLong);
  word.sleep_while(0, 20ms);
  EXPECT_GE(Clock::now() - begin, 20ms);
  EXPECT_LT(Clock::now() - begin, kAtOnce);
}

// Two alternate: each sleeps until the other has changed the word, which may be just now.
TEST(SharedWord, NoChangeIsSleptThrough) {
  constexpr std::uint64_t kTurns = 20'000;
  Words words;
  std::atomic<bool> has_slept_through{false};
  const auto play = [&](std::uint64_t me) {
    SharedWord word(words.word, words.sleepers);
    for (std::uint64_t turn = me; turn < kTurns; turn += 2) {
      const auto begin = Clock::now();
      while (word.load() != turn && !has_slept_through) word.sleep_while(turn - 1, kLong);
      if (Clock::now() - begin > kAtOnce) has_slept_through = true;
      word.replace(turn, turn + 1);
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_FALSE(has_slept_through);
}

}  // namespace
}  // namespace chime::host
