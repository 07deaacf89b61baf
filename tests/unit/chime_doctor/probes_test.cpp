// What drivers and the system answer, and whether it survives the way from the process that asks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/chime-doctor/probes/cuda.hpp"
#include "tools/chime-doctor/probes/network.hpp"
#include "tools/chime-doctor/probes/recorded.hpp"

namespace chime::doctor {
namespace {

// By fake_cuda.cpp.
void expect_four_gpus(const CudaAnswers& answers) {
  EXPECT_EQ(answers.why_not, "");
  EXPECT_EQ(answers.version, 12070);
  struct Expected {
    const char *address, *name;
    bool has_rdma, has_dma_buf, has_vmm_rdma, keeps_order;
  };
  const Expected expected[] = {{"0000:1b:00.0", "GPU 0", true, false, true, false},
                               {"0000:9d:03.0", "GPU 1", true, false, false, true},
                               {"0001:1b:00.0", "GPU 2", false, false, false, true},
                               {"abcd:00:1f.0", "GPU 3", false, true, false, false}};
  EXPECT_EQ(answers.gpus.size(), std::size(expected));
  for (const Expected& one : expected) {
    ASSERT_EQ(answers.gpus.count(one.address), 1u) << one.address;
    const GpuAttributes& gpu = answers.gpus.at(one.address);
    EXPECT_EQ(gpu.name, one.name);
    EXPECT_EQ(gpu.has_rdma, one.has_rdma) << one.name;
    EXPECT_EQ(gpu.has_dma_buf, one.has_dma_buf) << one.name;
    EXPECT_EQ(gpu.has_vmm_rdma, one.has_vmm_rdma) << one.name;
    EXPECT_EQ(gpu.keeps_order, one.keeps_order) << one.name;
  }
}

TEST(Probes, OfTheCudaDriverAreByItsNumbers) { expect_four_gpus(ask_cuda()); }

TEST(Probes, OfTheCudaDriverSurviveTheirJson) {
  const auto again = probes_of(json_of(ask_cuda())).cuda;
  ASSERT_TRUE(again);
  expect_four_gpus(*again);
}

TEST(Probes, OfInterfacesHaveTheNetworksOfTheirAddresses) {
  const auto all = interfaces_now();
  ASSERT_TRUE(all);
  const auto lo = std::ranges::find(*all, "lo", &Interface::name);
  if (lo == all->end() || lo->addresses.empty()) GTEST_SKIP() << "lo has no address";
  ASSERT_EQ(lo->addresses.size(), lo->networks.size());
  const auto place = std::ranges::find(lo->addresses, "127.0.0.1") - lo->addresses.begin();
  EXPECT_EQ(lo->networks.at(static_cast<std::size_t>(place)), "127.0.0.0/8");
}

TEST(Probes, OfTheSystemCountItsProcessors) {
  const Probes probes = gather_little(root_of_this_machine(), std::chrono::seconds(30));
  EXPECT_EQ(probes.processors, static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace
}  // namespace chime::doctor
