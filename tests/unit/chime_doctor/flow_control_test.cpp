// What the kernel says of an interface's flow control, byte by byte as linux/dcbnl.h and
// net/dcb/dcbnl.c have it, and what stays when it is no such message.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/chime-doctor/probes/network.hpp"
#include "tools/chime-doctor/probes/recorded.hpp"

namespace chime::doctor {
namespace {

using Message = std::vector<std::byte>;

Message message_of(const std::vector<int>& bytes) {
  Message message;
  for (const int byte : bytes) message.push_back(static_cast<std::byte>(byte));
  return message;
}

// Little-endian. PFC for priorities 3 and 4; of the table the second entry alone is of a DSCP
// (selector 5): 26 has priority 3. A nested attribute may carry the flag 0x8000.
Message answer() {
  std::vector<int> bytes{
      0x98, 0,  0,  0,    78,  0,   0,   0,   1, 0, 0, 0, 2, 0, 0, 0,  // header
      0,    21, 0,  0,                                                 // DCB_CMD_IEEE_GET
      9,    0,  1,  0,    'e', 't', 'h', '0', 0, 0, 0, 0,              // interface
      0x78, 0,  13, 0x80,                                              // IEEE, nested
  };
  std::vector<int> pfc(4 + 136, 0);
  pfc[0] = 4 + 136;
  pfc[2] = 2;     // PFC
  pfc[4] = 8;     // pfc_cap
  pfc[5] = 0x18;  // pfc_en
  const std::vector<int> table{
      20, 0, 3, 0,                    // table of applications
      8,  0, 1, 0, 1, 6, 0x15, 0x89,  // by EtherType: RoCE v1
      8,  0, 1, 0, 5, 3, 26,   0,     // by DSCP
  };
  const std::size_t ieee = bytes.size() - 4;
  bytes.insert(bytes.end(), pfc.begin(), pfc.end());
  bytes.insert(bytes.end(), table.begin(), table.end());
  bytes[ieee] = static_cast<int>(bytes.size() - ieee);
  bytes[0] = static_cast<int>(bytes.size());
  return message_of(bytes);
}

TEST(FlowControl, IsReadFromTheKernelsMessage) {
  ASSERT_LT(answer().size(), 256u);  // lengths of one byte
  const FlowControl found = flow_control_in(answer());
  EXPECT_EQ(found.lossless_priorities, 0x18u);
  EXPECT_EQ(found.priority_of_dscp, (std::map<int, int>{{26, 3}}));
  EXPECT_FALSE(found.pauses);
}

TEST(FlowControl, OfAMessageThatWasCutIsWhatWasWhole) {
  const Message whole = answer();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Message cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const FlowControl found = flow_control_in(cut);
    EXPECT_FALSE(found.lossless_priorities) << size;  // the attribute around it is not whole
    EXPECT_TRUE(found.priority_of_dscp.empty()) << size;
  }
}

TEST(FlowControl, OfBrokenLengthsIsNothing) {
  for (const int length : {0, 1, 3, 255}) {
    Message message = answer();
    message[20] = static_cast<std::byte>(length);  // the interface's attribute
    EXPECT_FALSE(flow_control_in(message).lossless_priorities) << length;
  }
}

TEST(FlowControl, IsNotKnownOfAnInterfaceWithoutIt) {
  for (const std::string interface : {"lo", "no-such-one", "a-name-that-is-longer-than-any"}) {
    const auto found = ask_flow_control({interface});
    ASSERT_EQ(found.count(interface), 1u);
    EXPECT_FALSE(found.at(interface).lossless_priorities);
    EXPECT_TRUE(found.at(interface).priority_of_dscp.empty());
  }
}

TEST(FlowControl, SurvivesItsJson) {
  FlowControl some;
  some.lossless_priorities = 0x81;
  some.priority_of_dscp = {{0, 1}, {63, 7}};
  some.pauses = false;
  const std::map<std::string, FlowControl> all{{"eth0", some}, {"eth1", FlowControl()}};
  const auto again = probes_of(json_of(all)).flow_control;
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again.at("eth0").lossless_priorities, 0x81u);
  EXPECT_EQ(again.at("eth0").priority_of_dscp, some.priority_of_dscp);
  EXPECT_EQ(again.at("eth0").pauses, false);
  EXPECT_FALSE(again.at("eth1").lossless_priorities);
  EXPECT_TRUE(again.at("eth1").priority_of_dscp.empty());
  EXPECT_FALSE(again.at("eth1").pauses);
}

}  // namespace
}  // namespace chime::doctor
