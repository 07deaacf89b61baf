// A PE with a NullNic, and the kernels' view of it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "channel_job.hpp"
#include "null_nic.hpp"

namespace chime::tests {

// PE 0 of `n_pes`, which reaches all of them only through the NIC.
class NicJob : public ChannelJob<NullNic, Path::kNic> {
 public:
  NullNic& nic = stand_in;

  explicit NicJob(int n_pes, const NicPlan& plan = {}) : ChannelJob(n_pes, plan) {}
};

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
