// Which port is chosen, and what is said when there is none.
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
    {"bnxt_re0", false, {"/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0", 0}, {{1, kUp}}},
    {"mlx5_0", true, {"/sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0", 0}, {{1, kDown}}},
    {"mlx5_1", true, {"/sys/devices/pci0000:00/0000:00:03.0/0000:03:00.0", 0}, {{1, kUp}}},
    {"mlx5_2",
     true,
     {"/sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0/0000:83:00.0", 1},
     {{1, kDown}, {2, kUp}}},
    {"mlx5_3",
     true,
     {"/sys/devices/pci0000:80/0000:80:01.0/0000:81:01.0/0000:84:00.0", 1},
     {{1, kUp}}},
};

std::string chosen(const std::string& wanted, const PciPlace& gpu = {}, int turn = 0) {
  const ChosenPort port = choose_port(kMachine, wanted, gpu, turn);
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
  // Below the same switch; then the same root; a GPU that hangs elsewhere, by NUMA node.
  EXPECT_EQ(chosen("auto", {"/sys/devices/pci0000:80/0000:80:01.0/0000:81:01.0/0000:85:00.0", 1}),
            "mlx5_3:1");
  EXPECT_EQ(chosen("auto", {"/sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0/0000:86:00.0", 1}),
            "mlx5_2:2");
  EXPECT_EQ(chosen("auto", {"/sys/devices/pci0000:c0/0000:c0:01.0/0000:c1:00.0", 1}), "mlx5_2:2");
  EXPECT_EQ(chosen("auto", {"/sys/devices/pci0000:00/0000:00:09.0/0000:09:00.0", 0}), "mlx5_1:1");
}

// All PEs sent by the first of them.
TEST(DeviceChoice, PesTakeEquallyNearDevicesInTurn) {
  EXPECT_EQ(chosen("auto", {}, 1), "mlx5_2:2");
  EXPECT_EQ(chosen("auto", {}, 2), "mlx5_3:1");
  EXPECT_EQ(chosen("auto", {}, 3), "mlx5_1:1");
  const PciPlace elsewhere_on_node_1{"/sys/devices/pci0000:c0/0000:c0:01.0/0000:c1:00.0", 1};
  EXPECT_EQ(chosen("auto", elsewhere_on_node_1, 0), "mlx5_2:2");
  EXPECT_EQ(chosen("auto", elsewhere_on_node_1, 1), "mlx5_3:1");
  EXPECT_EQ(chosen("auto", elsewhere_on_node_1, 2), "mlx5_2:2");
  const PciPlace beside_3{"/sys/devices/pci0000:80/0000:80:01.0/0000:81:01.0/0000:85:00.0", 1};
  for (int turn = 0; turn < 4; ++turn) EXPECT_EQ(chosen("auto", beside_3, turn), "mlx5_3:1");
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
