// Which port is chosen, and the message when there is none.
#include "host/transport/mlx5/nic/device_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kUp[] = "4: ACTIVE";
constexpr char kDown[] = "1: DOWN";

const std::vector<Candidate> kMachine{
    {"bnxt_re0", false, "", {{1, kUp}}, {{"the machine", "package 0"}}},
    {"mlx5_0", true, "", {{1, kDown}}, {{"the machine", "package 0"}}},
    {"mlx5_1", true, "", {{1, kUp}}, {{"the machine", "package 0"}}},
    {"mlx5_2", true, "", {{1, kDown}, {2, kUp}}, {{"the machine", "package 1", "bridge 81:00.0"}}},
    {"mlx5_3", true, "", {{1, kUp}}, {{"the machine", "package 1", "bridge 81:01.0"}}},
};

std::string chosen(const std::string& wanted, const topology::Place& gpu = {}, int turn = 0) {
  const ChosenPort port = choose_port(kMachine, wanted, {gpu, "GPU 0000:85:00.0", ""}, turn);
  return kMachine[port.device].name + ":" + std::to_string(port.port);
}

std::string refusal(const std::vector<Candidate>& machine, const std::string& wanted) {
  try {
    choose_port(machine, wanted, {}, 0);
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(DeviceChoice, AutoIsTheFirstActiveMlx5Port) { EXPECT_EQ(chosen("auto"), "mlx5_1:1"); }

TEST(DeviceChoice, AutoIsNearTheGpu) {
  // Below the same bridge; otherwise in the same package.
  EXPECT_EQ(chosen("auto", {{"the machine", "package 1", "bridge 81:01.0"}}), "mlx5_3:1");
  EXPECT_EQ(chosen("auto", {{"the machine", "package 1", "bridge 81:00.0"}}), "mlx5_2:2");
  EXPECT_EQ(chosen("auto", {{"the machine", "package 1", "bridge c0:01.0"}}), "mlx5_2:2");
  EXPECT_EQ(chosen("auto", {{"the machine", "package 0", "bridge 00:09.0"}}), "mlx5_1:1");
}

// Before, all PEs used the first of them.
TEST(DeviceChoice, PesTakeEquallyNearDevicesInTurn) {
  EXPECT_EQ(chosen("auto", {}, 1), "mlx5_2:2");
  EXPECT_EQ(chosen("auto", {}, 2), "mlx5_3:1");
  EXPECT_EQ(chosen("auto", {}, 3), "mlx5_1:1");
  const topology::Place elsewhere_on_1{{"the machine", "package 1", "bridge c0:01.0"}};
  EXPECT_EQ(chosen("auto", elsewhere_on_1, 0), "mlx5_2:2");
  EXPECT_EQ(chosen("auto", elsewhere_on_1, 1), "mlx5_3:1");
  EXPECT_EQ(chosen("auto", elsewhere_on_1, 2), "mlx5_2:2");
  const topology::Place beside_3{{"the machine", "package 1", "bridge 81:01.0"}};
  for (int turn = 0; turn < 4; ++turn) EXPECT_EQ(chosen("auto", beside_3, turn), "mlx5_3:1");
}

TEST(DeviceChoice, NearnessDecidesOnlyAmongSeveralActivePorts) {
  EXPECT_TRUE(nearness_decides(kMachine, "auto"));
  EXPECT_FALSE(nearness_decides(kMachine, "mlx5_1"));
  EXPECT_FALSE(nearness_decides(kMachine, "soft"));
  EXPECT_FALSE(nearness_decides(std::span(kMachine).first(3), "auto"));
}

TEST(DeviceChoice, IsExplained) {
  const auto why = [](const std::vector<std::string>& gpu, const std::string& not_by_hwloc = "") {
    return choose_port(kMachine, "auto", {{gpu}, "GPU 0000:85:00.0", not_by_hwloc}, 0).why;
  };
  EXPECT_EQ(why({"the machine", "package 1", "bridge 81:01.0"}),
            "nearest to GPU 0000:85:00.0: both in bridge 81:01.0");
  EXPECT_EQ(
      why({"the machine", "package 1"}),
      "nearest to GPU 0000:85:00.0: both in package 1; 2 of 3 taken in turn by the node's PEs");
  EXPECT_EQ(why({"the machine"}),
            "3 of 3 taken in turn by the node's PEs: all are in the machine with GPU 0000:85:00.0");
  EXPECT_EQ(
      why({}, "libhwloc.so.15 is not found here"),
      "3 of 3 taken in turn by the node's PEs, near or far (by sysfs alone: libhwloc.so.15 is "
      "not found here)");
  EXPECT_EQ(choose_port(kMachine, "mlx5_3", {}, 0).why, "named by CHIME_NIC");
  EXPECT_EQ(choose_port(std::span(kMachine).first(3), "auto", {}, 0).why,
            "the only active mlx5 port");
}

TEST(DeviceChoice, ANameMayHaveAPort) {
  EXPECT_EQ(chosen("mlx5_3"), "mlx5_3:1");
  EXPECT_EQ(chosen("mlx5_2"), "mlx5_2:2");
  EXPECT_EQ(chosen("mlx5_2:2"), "mlx5_2:2");
}

TEST(DeviceChoice, WhatIsNotThereIsAnsweredWithWhatIs) {
  EXPECT_THAT(refusal(kMachine, "mlx5_9"),
              AllOf(HasSubstr("there is no device 'mlx5_9'"), HasSubstr("mlx5_0:1 (1: DOWN)"),
                    HasSubstr("bnxt_re0:1 (4: ACTIVE, not mlx5)")));
  EXPECT_THAT(refusal(kMachine, "mlx5_2:1"), HasSubstr("port 1 of 'mlx5_2' is down"));
  EXPECT_THAT(refusal(kMachine, "mlx5_0"), HasSubstr("no port of 'mlx5_0' is active"));
  EXPECT_THAT(refusal(kMachine, "mlx5_1:3"), HasSubstr("'mlx5_1' has no port 3"));
  EXPECT_THAT(refusal(kMachine, "mlx5_1:x"), HasSubstr("does not end with a port number"));
  EXPECT_THAT(refusal(kMachine, "bnxt_re0"), HasSubstr("is not an mlx5 device"));
  EXPECT_THAT(refusal({}, "auto"), AllOf(HasSubstr("no mlx5 port is active"),
                                         HasSubstr("there is no RDMA device here")));
  EXPECT_THAT(refusal({kMachine[0], kMachine[1]}, "auto"), HasSubstr("no mlx5 port is active"));
}

}  // namespace
}  // namespace chime::host::mlx5
