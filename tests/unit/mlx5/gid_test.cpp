// Which address of a port is chosen, as a table.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "host/errors/error.hpp"
#include "host/transport/mlx5/nic/mlx5_gid.hpp"

namespace chime::host::mlx5 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Gid gid(const char* text) {
  Gid gid;
  EXPECT_EQ(::inet_pton(AF_INET6, text, gid.data()), 1) << text;
  return gid;
}

GidEntry v1(unsigned index, const char* text) { return {index, GidType::kRoceV1, gid(text)}; }
GidEntry v2(unsigned index, const char* text) { return {index, GidType::kRoceV2, gid(text)}; }
GidEntry ib(unsigned index, const char* text) { return {index, GidType::kInfiniBand, gid(text)}; }

struct Row {
  const char* name;
  bool ethernet;
  std::vector<GidEntry> table;
  unsigned chosen;
};

const Row kRows[] = {
    {"what a RoCE port has without an IP address: link local, version 2",
     true,
     {v1(0, "fe80::1"), v2(1, "fe80::1")},
     1},
    {"an IPv4 address before the link local one",
     true,
     {v1(0, "fe80::1"), v2(1, "fe80::1"), v1(2, "::ffff:10.0.0.7"), v2(3, "::ffff:10.0.0.7")},
     3},
    {"IPv4 before global IPv6", true, {v2(1, "2001:db8::1"), v2(3, "::ffff:10.0.0.7")}, 3},
    {"unique local IPv6 before link local", true, {v2(1, "fe80::1"), v2(5, "fd00::1")}, 5},
    {"global IPv6 before an IPv4 address that no router knows",
     true,
     {v2(1, "::ffff:169.254.3.4"), v2(3, "2001:db8::1")},
     3},
    {"link-local IPv4 before link-local IPv6",
     true,
     {v2(1, "fe80::1"), v2(3, "::ffff:169.254.3.4")},
     3},
    {"the lowest index among equals",
     true,
     {v2(3, "::ffff:10.0.0.7"), v2(5, "::ffff:10.1.0.7")},
     3},
    {"never version 1, however good its address",
     true,
     {v1(0, "::ffff:10.0.0.7"), v2(1, "fe80::1")},
     1},
    {"never an empty entry", true, {v2(0, "::"), v2(4, "fe80::1")}, 4},
    {"a loopback address, if that is all",
     true,
     {v1(2, "::ffff:127.0.0.1"), v2(3, "::ffff:127.0.0.1")},
     3},
    {"InfiniBand: the first that is set",
     false,
     {ib(0, "::"), ib(1, "fe80::7"), ib(2, "fec0::7")},
     1},
};

TEST(Gid, IsChosenByVersionFamilyAndReach) {
  for (const Row& row : kRows)
    EXPECT_EQ(choose_gid(row.table, row.ethernet, -1).index, row.chosen) << row.name;
}

std::string refusal(const std::vector<GidEntry>& table, bool ethernet, int wanted) {
  try {
    choose_gid(table, ethernet, wanted);
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Gid, AnIndexThatIsInsistedOnIsTaken) {
  const std::vector<GidEntry> table{v2(1, "fe80::1"), v2(3, "::ffff:10.0.0.7")};
  EXPECT_EQ(choose_gid(table, true, 1).index, 1u);
  EXPECT_THAT(refusal(table, true, 7),
              AllOf(HasSubstr("CHIME_NIC_GID_INDEX"), HasSubstr("no GID at index 7"),
                    HasSubstr("::ffff:10.0.0.7 (RoCE v2, index 3)")));
  EXPECT_THAT(refusal({v1(0, "fe80::1")}, true, 0), HasSubstr("index 0 is RoCE v1"));
}

TEST(Gid, APortWithoutOneSaysWhatToDo) {
  EXPECT_THAT(refusal({v1(0, "fe80::1")}, true, -1),
              AllOf(HasSubstr("no RoCE v2 address"), HasSubstr("ip addr add")));
  EXPECT_THAT(refusal({ib(0, "::")}, false, -1),
              AllOf(HasSubstr("subnet manager"), HasSubstr("the port has none")));
}

TEST(Gid, FamiliesAreReported) {
  EXPECT_TRUE(same_family(gid("::ffff:10.0.0.7"), gid("::ffff:10.0.0.8")));
  EXPECT_FALSE(same_family(gid("::ffff:10.0.0.7"), gid("fe80::1")));
}

}  // namespace
}  // namespace chime::host::mlx5
