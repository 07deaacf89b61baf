// A flag by which PEs meet never goes back: a waiting PE has seen the later value and goes on, and
// then waits in vain for one that was overwritten by an earlier one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "chime/device/coll/barrier.cuh"
#include "nic_job.hpp"

namespace chime::tests {
namespace {

// PE 0 of two, for whom PE 1 has come to all meetings already; and what becomes of PE 1's flag.
struct Meeting {
  explicit Meeting(const NicPlan& plan = {}) : pe(2, plan) {
    pe.context().team.sync->flags[0].arrived = 1000;
    pe.nic.watch([this] { look(); });
  }

  std::uint64_t flag() { return std::atomic_ref(flag_).load(); }

  // After each request of the NIC.
  void look() {
    const std::uint64_t now = flag();
    went_back = went_back || now < highest;
    highest = std::max(highest.load(), now);
  }

  NicJob pe;
  std::atomic<bool> went_back{false};
  std::atomic<std::uint64_t> highest{0};

 private:
  std::uint64_t& flag_ = pe.job.context(1).team.sync->flags[0].arrived;
};

// By another block each time, so by all queues in turn where each block had its own.
TEST(Meeting, IsAnnouncedInOrderWhicheverBlockDoes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    NicPlan plan;
    plan.slots = 4;
    plan.is_lazy = true;
    Meeting meeting(plan);
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

// The host's queue is slower than that of kernels.
TEST(Meeting, OfTheHostIsNotOvertakenByOneOfKernels) {
  for (const bool completes : {false, true}) {
    Meeting meeting;
    NicJob& pe = meeting.pe;
    NullNic slow(pe.job, 2, {});
    Context host = pe.context();
    host.channels = slow.channels();
    host.nic = slow.memory();
    host.channels.kernels = &pe.context().channels;
    slow.hold();
    std::thread both([&] {
      completes ? barrier_all(host, Thread{}) : sync_all(host, Thread{});
      run_threads(1, [&] { sync_all(pe.context(), Thread{}); });
    });
    while (std::atomic_ref(slow.queue(1).producer.ready).load() == 0) std::this_thread::yield();
    // Time for a kernel that need not wait for the host's arrival to land.
    for (int i = 0; i < 100 && meeting.flag() == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(meeting.flag(), 0u) << "it came first";
    slow.go_on();
    both.join();
    channel::quiet(host);
    EXPECT_EQ(meeting.flag(), 2u);
    EXPECT_EQ(slow.complaints(), "");
  }
}

}  // namespace
}  // namespace chime::tests
