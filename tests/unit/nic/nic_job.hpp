// A PE with a NullNic, and the kernels' view of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "chime/device/channel/sync.cuh"
#include "chime/device/path/ops.cuh"
#include "fake_job.hpp"
#include "null_nic.hpp"

namespace chime::tests {

// How long a wait may take: a planted fault that stops the queue need not be waited for.
inline std::uint64_t wait_limit_ns() {
  const char* const seconds = std::getenv("CHIME_TEST_LIMIT");
  return (seconds ? std::strtoull(seconds, nullptr, 10) : 60) * 1'000'000'000;
}

// PE 0 of `n_pes`, which reaches all of them through the NIC alone.
struct NicJob {
  FakeJob job;
  NullNic nic;

  explicit NicJob(int n_pes, const NicPlan& plan = {}) : job(n_pes), nic(job, n_pes, plan) {
    for (int pe = 0; pe < n_pes; ++pe) job.unmap(pe);
    Context& ctx = job.context();
    ctx.channels = nic.channels();
    ctx.nic = nic.memory();
    ctx.pe.on_error = OnError::kReturn;
    ctx.pe.wait_timeout_ns = wait_limit_ns();
  }
  ~NicJob() { EXPECT_EQ(nic.complaints(), ""); }

  Context& context() { return job.context(); }
  // Of what kernels have sent, by whoever calls.
  void quiet() { channel::quiet(context()); }
  void fence() { channel::fence(context()); }
  // The operations on a PE.
  Ops<Path::kNic> to(int pe) {
    return {job.context(), route_by_channel(job.context(), Traffic::kData, pe)};
  }
  template <class T>
  T* data(int pe = 0, std::size_t offset = 0) {
    return job.data<T>(pe, offset);
  }
};

// Runs `body` in every thread of a grid and waits for it.
inline void call_body(const std::function<void()>* body) { (*body)(); }
inline void run_grid(unsigned blocks, unsigned threads, const std::function<void()>& body) {
  exec::LaunchConfig config;
  config.grid = blocks;
  config.block = threads;
  ASSERT_EQ(exec::launch(config, call_body, &body), CHIMEX_OK);
  ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
}
inline void run_threads(unsigned threads, const std::function<void()>& body) {
  run_grid(1, threads, body);
}

// Both forms of completion queue.
class EachMode : public testing::TestWithParam<abi::NicCqMode> {
 protected:
  static NicPlan plan() {
    NicPlan plan;
    plan.mode = GetParam();
    return plan;
  }
};
inline std::string name_of_mode(const testing::TestParamInfo<abi::NicCqMode>& info) {
  return info.param == abi::NicCqMode::kCollapsed ? "Collapsed" : "Ring";
}
#define IN_EACH_MODE(Suite) \
  INSTANTIATE_TEST_SUITE_P( \
      Cq, Suite, testing::Values(abi::NicCqMode::kCollapsed, abi::NicCqMode::kRing), name_of_mode)

}  // namespace chime::tests
