// A PE with a FakeProxy, and the kernels' view of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "chime/device/channel/sync.cuh"
#include "chime/device/path/ops.cuh"
#include "fake_job.hpp"
#include "fake_proxy.hpp"

namespace chime::tests {

// How long a wait may take: a planted fault that stops the FIFO need not be waited for.
inline std::uint64_t wait_limit_ns() {
  const char* const seconds = std::getenv("CHIME_TEST_LIMIT");
  return (seconds ? std::strtoull(seconds, nullptr, 10) : 60) * 1'000'000'000;
}

// PE 0 of `n_pes`, which reaches all of them by the proxy alone.
struct ProxyJob {
  FakeJob job;
  FakeProxy proxy;

  explicit ProxyJob(int n_pes, const ProxyPlan& plan = {}) : job(n_pes), proxy(job, n_pes, plan) {
    for (int pe = 0; pe < n_pes; ++pe) job.unmap(pe);
    Context& ctx = job.context();
    ctx.channels = proxy.channels();
    ctx.nic = proxy.memory();
    ctx.pe.amo_path = Path::kProxy;
    ctx.pe.on_error = OnError::kReturn;
    ctx.pe.wait_timeout_ns = wait_limit_ns();
  }
  ~ProxyJob() { EXPECT_EQ(proxy.complaints(), ""); }

  Context& context() { return job.context(); }
  const abi::ErrorRecord& error() { return job.error(); }
  void quiet() { channel::quiet(context()); }
  void fence() { channel::fence(context()); }
  // The operations on a PE.
  Ops<Path::kProxy> to(int pe) {
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

// Requests that end at once, late, and in any order.
class EachPace : public testing::TestWithParam<Pace> {
 protected:
  static ProxyPlan plan() {
    ProxyPlan plan;
    plan.pace = GetParam();
    if (plan.pace == Pace::kAny) {
      plan.flags = abi::kProxyUnordered | abi::kProxyUnorderedAtomics;
    }
    return plan;
  }
};
inline std::string name_of_pace(const testing::TestParamInfo<Pace>& info) {
  return info.param == Pace::kAtOnce ? "AtOnce" : info.param == Pace::kLate ? "Late" : "Any";
}
#define AT_EACH_PACE(Suite)                                                                      \
  INSTANTIATE_TEST_SUITE_P(Ends, Suite, testing::Values(Pace::kAtOnce, Pace::kLate, Pace::kAny), \
                           name_of_pace)

}  // namespace chime::tests
