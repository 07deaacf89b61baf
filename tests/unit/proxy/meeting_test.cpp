// PEs that meet by the proxy: a flag never goes back, or it is waited for in vain.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "proxy_job.hpp"

namespace chime::tests {
namespace {

// PE 0 of two, for whom PE 1 has come to all meetings already; and what becomes of PE 1's flag.
struct Meeting {
  explicit Meeting(const ProxyPlan& plan) : pe(2, plan) {
    pe.context().team.sync->flags[0].arrived = 1000;
    pe.proxy.watch([this] { look(); });
  }

  // After each step of the proxy.
  void look() {
    const std::uint64_t now = std::atomic_ref(pe.job.context(1).team.sync->flags[0].arrived).load();
    went_back = went_back || now < highest;
    highest = std::max(highest.load(), now);
  }

  ProxyJob pe;
  std::atomic<bool> went_back{false};
  std::atomic<std::uint64_t> highest{0};
};

class Meetings : public EachPace {};

// By another block each time, so by all FIFOs in turn where each block had its own.
TEST_P(Meetings, AreAnnouncedInOrderWhicheverBlockDoes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    ProxyPlan four = plan();
    four.fifos = 4;
    Meeting meeting(four);
    std::atomic<unsigned> turn{0};
    run_grid(4, 1, [&] {
      for (unsigned round = 0; round < 5; ++round) {
        while (turn.load() != 4 * round + exec::block_rank()) exec::pause();
        sync_all(meeting.pe.context(), Thread{});
        ++turn;
      }
    });
    meeting.pe.quiet();
    EXPECT_FALSE(meeting.went_back);
    EXPECT_EQ(meeting.highest, 20u);
  }
}

TEST_P(Meetings, CompleteWhatWasSentBefore) {
  Meeting meeting(plan());
  const Context& ctx = meeting.pe.context();
  run_threads(64, [&] {
    std::uint64_t* const word = meeting.pe.data<std::uint64_t>() + exec::grid_rank();
    for (std::uint64_t round = 1; round <= 10; ++round) {
      p(ctx, word, round, 1);
      barrier_all(ctx, Block{});
      EXPECT_EQ(exec::ld(meeting.pe.data<std::uint64_t>(1) + exec::grid_rank()), round);
    }
  });
  EXPECT_EQ(meeting.pe.error().claimed, 0u);
}

AT_EACH_PACE(Meetings);

}  // namespace
}  // namespace chime::tests
