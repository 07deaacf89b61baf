// Queue pairs for meetings: the host's are slower than those of kernels.
#include "meeting.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "nic_job.hpp"

namespace chime::tests {
namespace {

TEST(Meeting, OfTheHostIsNotOvertakenByOneOfKernels) {
  for (const bool completes : {false, true}) {
    NicJob pe(2);
    const Meeting meeting(pe);
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
    // Time for a kernel that does not wait for the host's arrival.
    for (int i = 0; i < 100 && meeting.flag() == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(meeting.flag(), 0u) << "it came first";
    slow.go_on();
    both.join();
    channel::settle(host);
    EXPECT_EQ(meeting.flag(), 2u);
    EXPECT_EQ(slow.complaints(), "");
  }
}

}  // namespace
}  // namespace chime::tests
