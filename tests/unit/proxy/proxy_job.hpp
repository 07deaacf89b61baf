// A PE with a FakeProxy, and the kernels' view of it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "channel_job.hpp"
#include "fake_proxy.hpp"

namespace chime::tests {

// PE 0 of `n_pes`, which reaches all of them only through the proxy.
class ProxyJob : public ChannelJob<FakeProxy, Path::kProxy> {
 public:
  FakeProxy& proxy = stand_in;

  explicit ProxyJob(int n_pes, const ProxyPlan& plan = {}) : ChannelJob(n_pes, plan) {
    context().pe.amo_path = Path::kProxy;
  }
};

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
