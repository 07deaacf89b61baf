// What the doctor asks the kernel about flow control, byte by byte as linux/dcbnl.h,
// linux/ethtool.h and rtnetlink(7) have it. The kernel is a stand-in: a command that is wrong by
// one would change how an interface is set.
#include <gtest/gtest.h>

#include <cstring>

#include "net/socket/kernel.hpp"
#include "tools/chime-doctor/probes/network.hpp"

namespace {

struct Pauses {
  std::uint32_t command, autonegotiates, receives, sends;
};

struct Kernel {
  std::vector<std::byte> message;
  std::uint32_t command = 0;
  std::string interface;
  bool answers = true;
  std::uint32_t receives = 0, sends = 0;
} kernel;

}  // namespace

namespace chime::net {

std::vector<std::byte> ask_rtnetlink(std::span<const std::byte> request) {
  kernel.message.assign(request.begin(), request.end());
  return {};
}

bool ask_ethtool(const std::string& interface, void* command) {
  Pauses pauses{};
  std::memcpy(&pauses, command, sizeof pauses);
  kernel.interface = interface;
  kernel.command = pauses.command;
  pauses.receives = kernel.receives;
  pauses.sends = kernel.sends;
  std::memcpy(command, &pauses, sizeof pauses);
  return kernel.answers;
}

}  // namespace chime::net

namespace chime::doctor {
namespace {

TEST(FlowControl, IsAskedForAndNotSet) {
  ask_flow_control({"eth10"});
  std::vector<int> message;
  for (const std::byte byte : kernel.message) message.push_back(static_cast<int>(byte));
  EXPECT_EQ(message, (std::vector<int>{
                         30, 0,  0, 0, 78,  0,   1,   0,   0,   0, 0, 0, 0, 0, 0, 0,  // RTM_GETDCB
                         0,  21, 0, 0,  // DCB_CMD_IEEE_GET, of any family
                         10, 0,  1, 0, 'e', 't', 'h', '1', '0', 0, 0, 0,  // DCB_ATTR_IFNAME
                     }));
  EXPECT_EQ(kernel.command, 0x12u);  // ETHTOOL_GPAUSEPARAM; 0x13 sets
  EXPECT_EQ(kernel.interface, "eth10");
}

TEST(FlowControl, PausesALinkThatPausesBothWays) {
  const auto pauses = [](std::uint32_t receives, std::uint32_t sends) {
    kernel.receives = receives;
    kernel.sends = sends;
    return ask_flow_control({"eth10"}).at("eth10").pauses;
  };
  EXPECT_EQ(pauses(1, 1), true);
  EXPECT_EQ(pauses(1, 0), false);
  EXPECT_EQ(pauses(0, 1), false);
  EXPECT_EQ(pauses(0, 0), false);
  kernel.answers = false;
  EXPECT_EQ(pauses(1, 1), std::nullopt);
}

}  // namespace
}  // namespace chime::doctor
