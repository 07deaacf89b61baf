// The algorithms of collectives: what a user asks for, what teams have room for.
#include "host/teams/algorithms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "host/errors/error.hpp"
#include "host/settings/env.hpp"

namespace chime::host {
namespace {

constexpr TeamSize kFour = {4, 1024};

// The settings in which `variable` is `text`.
CollectiveOptions asked(std::string_view variable, const std::string& text) {
  return read_settings([&](std::string_view name) {
           return name == variable ? std::optional(text) : std::nullopt;
         })
      .collectives;
}

TEST(Algorithms, AreNamedAsTheirVariablesSay) {
  for (const Algorithms& call : all_algorithms()) {
    const auto found = std::find_if(variables().begin(), variables().end(),
                                    [&](const Variable& v) { return v.name == call.variable; });
    ASSERT_NE(found, variables().end()) << call.variable;
    EXPECT_EQ(found->values, fmt::format("auto|{}|{}|bytes", call.few, call.many));
  }
}

TEST(Algorithms, FollowTheBytesThatTheUserSays) {
  for (const Algorithms& call : all_algorithms()) {
    const abi::SwitchSizes sizes = switch_sizes(asked(call.variable, "1K"), kFour);
    EXPECT_EQ(sizes.*call.switch_at, 1024u) << call.call;
    for (const Algorithms& other : all_algorithms())
      if (other.call != call.call) {
        EXPECT_EQ(sizes.*other.switch_at, switch_sizes({}, kFour).*other.switch_at) << other.call;
      }
  }
}

TEST(Algorithms, MayBeAskedForByName) {
  for (const Algorithms& call : all_algorithms()) {
    const auto from = [&](std::string_view name) {
      return switch_sizes(asked(call.variable, std::string(name)), kFour).*call.switch_at;
    };
    EXPECT_EQ(from(call.many), 0u) << call.call;
    EXPECT_GT(from(call.few), kFour.slot_bytes) << call.call;
    EXPECT_EQ(from("auto"), switch_sizes({}, kFour).*call.switch_at) << call.call;
    EXPECT_THROW(asked(call.variable, "ring"), Error) << call.call;
  }
}

// A message of an fcollect or alltoall that goes by slots has one slot.
TEST(Algorithms, SlotsTakeNoMoreThanTheyHold) {
  const abi::SwitchSizes sizes = switch_sizes(asked("CHIME_COLL_FCOLLECT", "slots"), kFour);
  EXPECT_EQ(sizes.fcollect, kFour.slot_bytes + 1);
  EXPECT_EQ(switch_sizes(asked("CHIME_COLL_ALLTOALL", "1M"), kFour).alltoall, kFour.slot_bytes + 1);
}

TEST(Algorithms, ATeamOfOneSendsNothing) {
  for (const Algorithms& call : all_algorithms()) {
    const abi::SwitchSizes sizes = switch_sizes(asked(call.variable, "0"), {1, 1024});
    EXPECT_TRUE(sizes.*call.switch_at == kNoBytes || call.many == "direct") << call.call;
  }
}

// An fcollect is doubled where it goes by slots.
TEST(Algorithms, FcollectsGoBySlotsWhereTheseAreDoubled) {
  EXPECT_EQ(switch_sizes({}, {17, 320, true}).fcollect, 321u);
  EXPECT_EQ(switch_sizes({}, {17, 320, true}).alltoall, 17u);
  EXPECT_EQ(switch_sizes(asked("CHIME_COLL_FCOLLECT", "direct"), {17, 320, true}).fcollect, 0u);
}

TEST(Algorithms, LargeTeamsDouble) {
  EXPECT_FALSE(are_doubled({}, 16));
  EXPECT_TRUE(are_doubled({}, 17));
  const CollectiveOptions from_three = asked("CHIME_COLL_DOUBLING", "3");
  EXPECT_FALSE(are_doubled(from_three, 2));
  EXPECT_TRUE(are_doubled(from_three, 3));
  EXPECT_FALSE(are_doubled(asked("CHIME_COLL_DOUBLING", "off"), 1000));
  EXPECT_TRUE(are_doubled(asked("CHIME_COLL_DOUBLING", "auto"), 1000));
  EXPECT_THROW(asked("CHIME_COLL_DOUBLING", "1"), Error);
  EXPECT_THROW(asked("CHIME_COLL_DOUBLING", "slots"), Error);
}

}  // namespace
}  // namespace chime::host
