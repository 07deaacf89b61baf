// The proxy's counters, as text and for other processes.
#include "proxy/counts/counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy/counts/counts_file.hpp"

namespace chime::proxy {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Counts, SortsSleepsByTheirLength) {
  Counts counts;
  for (const auto length : {0ns, 31'999ns, 32'000ns, 1'000'000ns, 4'095'999ns, 4'096'000ns})
    counts.note_sleep(length);
  counts.note_sleep(1h);
  const std::uint64_t expected[] = {2, 1, 0, 0, 0, 1, 0, 3};
  for (std::size_t i = 0; i < Counts::kBuckets; ++i)
    EXPECT_EQ(counts.sleeps[i].get(), expected[i]) << "bucket " << i;
}

TEST(Counts, AreASentence) {
  Counts counts;
  EXPECT_THAT(words_of(counts), HasSubstr("it never slept"));
  counts.requests.add(30);
  counts.visits.add(4);
  counts.turns.add(1000);
  counts.longest_gap_ns.raise_to(1'250'000);
  counts.moves.add(2);
  counts.note_sleep(40us);
  counts.note_sleep(1min);
  EXPECT_EQ(
      words_of(counts),
      "0 requests under way (at most 0), 30 taken in 1000 turns, 7.5 at a time (at most 0), "
      "0 times no room at the fabric; longest gap between visits of a FIFO 1.25 ms; 2 times to "
      "another processor; its sleeps: 1 below 64 us, 1 longer");
}

TEST(CountsFile, IsFoundWhileItIsThere) {
  EXPECT_TRUE(counts_of(getpid()).empty());
  {
    const CountsFile five(5), six(6);
    six.counts().turns.add(17);
    const auto found = counts_of(getpid());
    ASSERT_EQ(found.size(), 2u);
    const auto& last = found[0].counts().pe == 6 ? found[0] : found[1];
    EXPECT_EQ(last.counts().turns.get(), 17u);
    EXPECT_EQ(last.process, getpid());
    EXPECT_GE(all_counts().size(), 2u);
  }
  EXPECT_TRUE(counts_of(getpid()).empty());
}

// A child of fork() is not the PE.
TEST(CountsFile, IsNotAChilds) {
  const CountsFile file(0);
  const pid_t child = fork();
  if (child == 0) _exit(counts_of(getpid()).empty() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace chime::proxy
