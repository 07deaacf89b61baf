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
    const std::string nodes = call.goes_by_nodes() ? fmt::format("{}|", call.by_nodes.name) : "";
    const char* const multimem = call.multimem == 0 ? "" : "multimem|";
    EXPECT_EQ(found->values,
              fmt::format("auto|{}|{}|{}{}bytes", call.few, call.many, nodes, multimem));
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

// Beside what auto takes, where it cannot be.
TEST(Algorithms, MultimemIsTakenByThoseAloneThatTheUserNames) {
  EXPECT_EQ(CollectiveOptions().by_multimem, 0u);
  std::uint32_t all = 0;
  for (const Algorithms& call : all_algorithms()) {
    if (call.multimem == 0) {
      EXPECT_THROW(asked(call.variable, "multimem"), Error) << call.call;
      continue;
    }
    const CollectiveOptions options = asked(call.variable, "multimem");
    EXPECT_EQ(options.by_multimem, call.multimem) << call.call;
    EXPECT_EQ(switch_sizes(options, kFour).*call.switch_at, switch_sizes({}, kFour).*call.switch_at)
        << call.call;
    EXPECT_EQ(asked(call.variable, std::string(call.many)).by_multimem, 0u) << call.call;
    EXPECT_EQ(all & call.multimem, 0u) << call.call;
    all |= call.multimem;
  }
  EXPECT_EQ(all, abi::kFcollectByMultimem | abi::kReduceByMultimem);
}

// PEs compare these, and users read them where they differ.
TEST(Algorithms, AreSaidAsTheyWereAskedFor) {
  for (const Algorithms& call : all_algorithms()) {
    std::vector<std::string> words = {"auto", std::string(call.few), std::string(call.many),
                                      "4096"};
    if (call.goes_by_nodes()) words.emplace_back(call.by_nodes.name);
    if (call.multimem != 0) words.emplace_back("multimem");
    for (const std::string& word : words)
      EXPECT_EQ(asked_words(call, asked(call.variable, word)), word) << call.call;
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

// A turn more, and three rounds a part, must save turns.
TEST(Algorithms, ScansOfManySlotsGoByBlocks) { EXPECT_EQ(switch_sizes({}, kFour).scan, 8192u); }

// An fcollect is doubled where it goes by slots.
TEST(Algorithms, FcollectsGoBySlotsWhereTheseAreDoubled) {
  EXPECT_EQ(switch_sizes({}, {17, 320, true}).fcollect, 321u);
  EXPECT_EQ(switch_sizes({}, {17, 320, true}).alltoall, 17u);
  EXPECT_EQ(switch_sizes(asked("CHIME_COLL_FCOLLECT", "direct"), {17, 320, true}).fcollect, 0u);
}

// Where blocks are worth a message to each, and there are others than the root and one member.
TEST(Algorithms, LongBroadcastsOfSmallTeamsGoByBlocks) {
  const auto from = [](std::size_t members) { return switch_sizes({}, {members, 1024}).broadcast; };
  EXPECT_EQ(from(2), kNoBytes);
  EXPECT_EQ(from(3), 128u * 1024);
  EXPECT_EQ(from(16), 128u * 1024);
  EXPECT_EQ(from(17), kNoBytes);
  EXPECT_EQ(switch_sizes(asked("CHIME_COLL_BROADCAST", "blocks"), {2, 1024}).broadcast, kNoBytes);
  EXPECT_EQ(switch_sizes(asked("CHIME_COLL_BROADCAST", "blocks"), {17, 1024}).broadcast, 0u);
}

// As long as a member's NIC sends less by what is worth a message more. Never before the second
// algorithm, nor where all are mapped, nor where two nodes cannot have two members each.
TEST(Algorithms, LongCallsGoByNodes) {
  EXPECT_EQ(switch_sizes({}, kFour).fcollect_by_nodes, 128u * 1024);
  EXPECT_EQ(switch_sizes({}, {16, 1024}).fcollect_by_nodes, (128u * 1024 + 6) / 7);
  EXPECT_EQ(switch_sizes({}, {16, 1024}).reduce_by_nodes, 256u * 1024);
  EXPECT_EQ(switch_sizes(asked("CHIME_COLL_REDUCE", "1M"), kFour).reduce_by_nodes, 1024u * 1024);
  EXPECT_EQ(switch_sizes(asked("CHIME_COLL_REDUCE", "1K"), kFour).reduce_by_nodes, 256u * 1024);
  for (const TeamSize team : {TeamSize{3, 1024}, TeamSize{4, 1024, false, true}})
    for (const CollectiveOptions& options :
         {CollectiveOptions{}, asked("CHIME_COLL_REDUCE", "nodes"),
          asked("CHIME_COLL_FCOLLECT", "nodes")}) {
      EXPECT_EQ(switch_sizes(options, team).fcollect_by_nodes, kNoBytes);
      EXPECT_EQ(switch_sizes(options, team).reduce_by_nodes, kNoBytes);
    }
}
TEST(Algorithms, GoByNodesIfTheUserSays) {
  for (const Algorithms& call : all_algorithms()) {
    if (!call.goes_by_nodes()) continue;
    const auto by_nodes = [&](std::string_view name) {
      return switch_sizes(asked(call.variable, std::string(name)), kFour).*call.by_nodes.switch_at;
    };
    EXPECT_EQ(by_nodes("nodes"), 0u) << call.call;
    EXPECT_EQ(by_nodes(call.few), kNoBytes) << call.call;
    EXPECT_EQ(by_nodes(call.many), kNoBytes) << call.call;
    EXPECT_EQ(switch_sizes(asked(call.variable, "nodes"), kFour).*call.switch_at, 0u) << call.call;
  }
  EXPECT_THROW(asked("CHIME_COLL_BROADCAST", "nodes"), Error);
}

TEST(Algorithms, SmallTeamsThatAreMappedMeetDirectly) {
  EXPECT_TRUE(meets_directly({}, 16, true));
  EXPECT_FALSE(meets_directly({}, 17, true));
  EXPECT_FALSE(meets_directly({}, 4, false));
  EXPECT_FALSE(meets_directly(asked("CHIME_COLL_BARRIER", "rounds"), 4, true));
  EXPECT_TRUE(meets_directly(asked("CHIME_COLL_BARRIER", "direct"), 4, false));
  EXPECT_FALSE(meets_directly(asked("CHIME_COLL_BARRIER", "direct"), 17, false));
  EXPECT_TRUE(meets_directly(asked("CHIME_COLL_BARRIER", "auto"), 4, true));
  EXPECT_THROW(asked("CHIME_COLL_BARRIER", "1"), Error);
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
