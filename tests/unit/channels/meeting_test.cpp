// A meeting flag never goes back: a waiting PE that has seen the later value goes on, and then
// waits in vain for a value that an earlier one has overwritten.
#include "meeting.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "any_job.hpp"
#include "chime/device/rma.cuh"

namespace chime::tests {
namespace {

class Meetings : public EachKind {};

// Another block each time: all channels in turn, where each block had its own.
TEST_P(Meetings, AreAnnouncedInOrderWhicheverBlockDoes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    AnyJob pe(GetParam(), 2, 4);
    const Meeting meeting(pe);
    std::atomic<unsigned> turn{0};
    run_grid(4, 1, [&] {
      for (unsigned round = 0; round < 5; ++round) {
        while (turn.load() != 4 * round + exec::block_rank()) exec::pause();
        sync_all(pe.context(), Thread{});
        ++turn;
      }
    });
    channel::settle(pe.context());
    EXPECT_FALSE(meeting.went_back());
    EXPECT_EQ(meeting.flag(), 20u);
  }
}

TEST_P(Meetings, CompleteWhatWasSentBefore) {
  AnyJob pe(GetParam(), 2);
  const Meeting meeting(pe);
  run_threads(64, [&] {
    std::uint64_t* const word = pe.data<std::uint64_t>() + exec::grid_rank();
    for (std::uint64_t round = 1; round <= 10; ++round) {
      p(pe.context(), word, round, 1);
      barrier_all(pe.context(), Block{});
      EXPECT_EQ(exec::ld(pe.data<std::uint64_t>(1) + exec::grid_rank()), round);
    }
  });
  EXPECT_EQ(pe.error().claimed, 0u);
}

IN_EACH_KIND(Meetings);

}  // namespace
}  // namespace chime::tests
