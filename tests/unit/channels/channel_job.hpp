// PE 0 of a job whose channels a stand-in serves, and the kernels' view of it. NicJob and ProxyJob
// are two of these.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <utility>

#include "chime/device/channel/sync.cuh"
#include "chime/device/path/ops.cuh"
#include "fake_job.hpp"

namespace chime::tests {

// The limit of a wait: a planted fault that stops a channel need not be waited for.
inline std::uint64_t wait_limit_ns() {
  const char* const seconds = std::getenv("CHIME_TEST_LIMIT");
  return (seconds ? std::strtoull(seconds, nullptr, 10) : 60) * 1'000'000'000;
}

// PE 0 of `n_pes`, which reaches all of them by channels alone.
template <class StandIn, Path kPath>
class ChannelJob {
 public:
  FakeJob job;
  StandIn stand_in;

  template <class Plan>
  ChannelJob(int n_pes, const Plan& plan) : job(n_pes), stand_in(job, n_pes, plan) {
    for (int pe = 0; pe < n_pes; ++pe) job.unmap(pe);
    Context& ctx = job.context();
    ctx.channels = stand_in.channels();
    ctx.nic = stand_in.memory();
    ctx.pe.on_error = OnError::kReturn;
    ctx.pe.wait_timeout_ns = wait_limit_ns();
  }
  ~ChannelJob() { EXPECT_EQ(stand_in.complaints(), ""); }

  Context& context(int pe = 0) { return job.context(pe); }
  const abi::ErrorRecord& error() { return job.error(); }
  // Both act on the requests of kernels, whichever thread calls.
  void quiet() { channel::quiet(context()); }
  void fence() { channel::fence(context()); }
  // Calls `look` in the stand-in's thread; see its watch().
  void watch(std::function<void()> look) { stand_in.watch(std::move(look)); }
  // The operations on a PE.
  Ops<kPath> to(int pe) {
    return {job.context(), *route_by_channel(job.context(), Traffic::kData, pe).channel, pe};
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

}  // namespace chime::tests
