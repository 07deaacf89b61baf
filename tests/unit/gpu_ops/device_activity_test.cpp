// In a checked job no call allocates while a kernel runs; one that does is named, with the kernel.
#include "host/gpu/device_activity.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "chime/abi/launched_kernel.h"
#include "chime/device/exec/exec.cuh"
#include "host/gpu/factory.hpp"

namespace chime::host {
namespace {

CHIME_KERNEL inline void run_until_told(const std::uint32_t* end) {
  while (exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(end) == 0) exec::pause();
}

// A kernel that runs while this exists.
struct RunningKernel {
  RunningKernel() {
    const exec::Status status =
        exec::launch({}, run_until_told, static_cast<const std::uint32_t*>(&end));
    EXPECT_EQ(status, CHIMEX_OK);
    while (device_activity::running_kernel().empty()) std::this_thread::yield();
  }
  ~RunningKernel() {
    std::atomic_ref(end).store(1, std::memory_order_release);
    EXPECT_EQ(exec::device_synchronize(), CHIMEX_OK);
  }
  alignas(4) std::uint32_t end = 0;
};

void allocate() { open_simt_gpu()->allocate_host_visible(4096); }

TEST(DeviceActivityDeathTest, AllocatingBesideAKernelEndsACheckedJob) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        device_activity::check();
        const RunningKernel kernel;
        allocate();
      },
      "allocate_host_visible is called while the kernel .+ runs");
}

TEST(DeviceActivity, AllocatingIsFreeWhereNothingRunsOrNothingIsChecked) {
  {
    const RunningKernel kernel;
    allocate();
  }
  device_activity::check();
  allocate();
  const RunningKernel kernel;
  const device_activity::Harmless harmless;
  allocate();
}

struct FakeEvent {
  bool has_ended = false;
  int forgotten = 0;
};

TEST(DeviceActivity, KernelsOfAGpuRunUntilTheirEvent) {
  FakeEvent event;
  chime_launched_kernel told = {};
  std::strcpy(told.name, "of_a_gpu");
  told.event = &event;
  told.has_ended = [](void* e) { return int{static_cast<FakeEvent*>(e)->has_ended}; };
  told.forget = [](void* e) { ++static_cast<FakeEvent*>(e)->forgotten; };
  chime_kernel_is_launched(told);
  EXPECT_EQ(device_activity::running_kernel(), "of_a_gpu");
  event.has_ended = true;
  EXPECT_EQ(device_activity::running_kernel(), "");
  EXPECT_EQ(device_activity::running_kernel(), "");
  EXPECT_EQ(event.forgotten, 1);
}

}  // namespace
}  // namespace chime::host
