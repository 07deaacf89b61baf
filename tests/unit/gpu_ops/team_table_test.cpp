// The table of teams: the data that kernels read, and the entries that are given out.
#include "host/teams/team_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "gpu_on_cpu.hpp"
#include "host/errors/error.hpp"
#include "host/memory/heap.hpp"

namespace chime::host {
namespace {

constexpr TeamTable::Shape kShape = {.teams = 100, .lanes = 3, .n_pes = 6, .asked_scratch = 1024};
constexpr int kMe = 4;

class Table : public testing::Test {
 protected:
  const abi::Team& entry(chime_team_t team) const {
    return table.view().entries[abi::team_index(team)];
  }
  chime_team_t make(Members members) {
    const TeamTable::Plan plan = {std::move(members)};
    return table.accept(table.propose(), std::span(&plan, 1))[0];
  }

  std::unique_ptr<Gpu> gpu = open_gpu_on_cpu();
  Heap heap{*gpu, std::size_t{1} << 20, {kShape.heap_bytes(), kShape.zero_bytes()}};
  TeamTable table{*gpu, heap.own_memory(), kShape, kMe};
};

TEST_F(Table, HasAllPesFromTheStart) {
  EXPECT_EQ(table.view().count, 100);
  EXPECT_EQ(table.view().lanes, 3);
  const abi::Team& all = entry(CHIME_TEAM_WORLD);
  EXPECT_EQ(all.handle, CHIME_TEAM_WORLD);
  EXPECT_EQ(all.size, 6);
  EXPECT_EQ(all.my_rank, kMe);
  EXPECT_EQ(all.start, 0);
  EXPECT_EQ(all.stride, 1);
  EXPECT_EQ(all.pes, nullptr);
  EXPECT_EQ(all.first_epoch, 0u);
  for (int index = 1; index < 100; ++index) EXPECT_EQ(entry(index).handle, -1) << index;
}

TEST_F(Table, ShowsKernelsAStrideOrAList) {
  const abi::Team strided = entry(make(Members(Triplet{5, -1, 3})));
  EXPECT_EQ(strided.start, 5);
  EXPECT_EQ(strided.stride, -1);
  EXPECT_EQ(strided.my_rank, 1);
  EXPECT_EQ(strided.pes, nullptr);
  const std::vector<int> pes = {4, 0, 5};
  const abi::Team list = entry(make(Members(pes)));
  EXPECT_EQ(list.size, 3);
  EXPECT_EQ(list.my_rank, 0);
  ASSERT_NE(list.pes, nullptr);
  EXPECT_EQ(std::vector<int>(list.pes, list.pes + 3), pes);
  // A list that is a stride is stored as a stride.
  EXPECT_EQ(entry(make(Members(std::vector{0, 2, 4}))).pes, nullptr);
}

// No PE of the team may be one that another member does not map.
TEST_F(Table, LetsTeamsMeetDirectlyThatAreMapped) {
  EXPECT_EQ(entry(CHIME_TEAM_WORLD).meets_directly, 0);
  TeamTable mapped{*gpu, heap.own_memory(), kShape, kMe, {kMe - 2, kMe - 1, kMe}};
  const auto meets_directly = [&](Members members) {
    const TeamTable::Plan plan = {std::move(members)};
    const chime_team_t team = mapped.accept(mapped.propose(), std::span(&plan, 1))[0];
    return mapped.view().entries[abi::team_index(team)].meets_directly != 0;
  };
  EXPECT_TRUE(meets_directly(Members(Triplet{kMe - 2, 1, 3})));
  EXPECT_TRUE(meets_directly(Members(Triplet{kMe, -1, 2})));
  EXPECT_FALSE(meets_directly(Members(Triplet{kMe - 3, 1, 4})));
  EXPECT_FALSE(meets_directly(Members(std::vector{kMe, 0, kMe - 1})));
  EXPECT_FALSE(mapped.view().entries[CHIME_TEAM_WORLD].meets_directly);
}

// Where they are neighbours by rank, as many as those of each other node may be.
TEST_F(Table, CountsMembersThatThisPeMaps) {
  TeamTable mapped{*gpu, heap.own_memory(), kShape, kMe, {kMe, kMe + 1}};
  const auto node_members = [&](std::vector<int> members) {
    const TeamTable::Plan plan = {Members(std::move(members))};
    const chime_team_t team = mapped.accept(mapped.propose(), std::span(&plan, 1))[0];
    return mapped.view().entries[abi::team_index(team)].node_members;
  };
  EXPECT_EQ(mapped.view().entries[CHIME_TEAM_WORLD].node_members, 2);
  EXPECT_EQ(node_members({kMe + 1, kMe, 0, 3}), 2);
  EXPECT_EQ(node_members({0, kMe, kMe + 1, 3}), 0);  // a second node cannot have two before it
  EXPECT_EQ(node_members({kMe, 0, kMe + 1, 3}), 0);
  EXPECT_EQ(node_members({kMe, kMe + 1, 0}), 0);
  EXPECT_EQ(node_members({0, 1, 2, kMe}), 0);
  EXPECT_EQ(entry(CHIME_TEAM_WORLD).node_members, 0);
}

// Whatever the ranks; teams of more or fewer PEs have members that one address does not reach.
TEST_F(Table, LetsTeamsOfJustThesePesGoByMultimem) {
  TeamTable::Shape shape = kShape;
  shape.algorithms.by_multimem = abi::kReduceByMultimem;
  TeamTable asked{*gpu, heap.own_memory(), shape, kMe};
  const auto make_in = [](TeamTable& in, Members members) {
    const TeamTable::Plan plan = {std::move(members)};
    const chime_team_t team = in.accept(in.propose(), std::span(&plan, 1))[0];
    return [&in, team]() -> const abi::Team& { return in.view().entries[abi::team_index(team)]; };
  };
  const auto before = make_in(asked, Members(Triplet{2, 1, 4}));
  EXPECT_EQ(before().multicast_heap, nullptr);
  EXPECT_EQ(before().by_multimem, 0u);
  std::byte address{};
  asked.use_multicast(&address, {5, 2, 3, 4});
  for (const abi::Team& team : {before(), make_in(asked, Members(Triplet{5, -1, 4}))()}) {
    EXPECT_EQ(team.multicast_heap, &address);
    EXPECT_EQ(team.by_multimem, abi::kReduceByMultimem);
  }
  const auto fewer = make_in(asked, Members(Triplet{2, 1, 3}));
  const auto others = make_in(asked, Members(std::vector{1, 2, 3, 4}));
  for (const abi::Team& team :
       {fewer(), others(), asked.view().entries[abi::team_index(CHIME_TEAM_WORLD)]}) {
    EXPECT_EQ(team.multicast_heap, nullptr);
    EXPECT_EQ(team.by_multimem, 0u);
  }
}

// Areas and words of different teams, and the program's memory, have no byte in common.
TEST_F(Table, GivesEachTeamMemoryOfItsOwn) {
  std::vector<std::pair<std::byte*, std::byte*>> taken;
  std::vector<chime_team_t> teams = {CHIME_TEAM_WORLD};
  for (int i = 0; i < 93; ++i) teams.push_back(make(Members(Triplet{kMe, 1, 1})));
  for (const chime_team_t team : teams) {
    const abi::Team& each = entry(team);
    auto* const areas = reinterpret_cast<std::byte*>(each.areas);
    taken.emplace_back(areas, areas + sizeof(abi::SyncArea) * 4);  // three lanes, one to agree in
    auto* const words = reinterpret_cast<std::byte*>(each.agreement);
    taken.emplace_back(words, words + sizeof(std::uint64_t) * (kShape.agreement_words() + 1) * 7);
  }
  std::ranges::sort(taken);
  EXPECT_GE(taken.front().first, heap.own_memory());
  for (std::size_t i = 1; i < taken.size(); ++i)
    EXPECT_LE(taken[i - 1].second, taken[i].first) << "the " << i << "th";
  EXPECT_LE(taken.back().second, heap.base() + heap.bytes());
  EXPECT_THROW(heap.allocate((std::size_t{1} << 20) + 1, 64), Error);
  EXPECT_LE(heap.allocate(std::size_t{1} << 20, 64) + (std::size_t{1} << 20), heap.own_memory());
}

// Slots, words, and room for what words bring, of all members.
TEST_F(Table, DividesEachHalfOfTheScratch) {
  for (const unsigned asked : {256u, 1000u, 16384u})
    for (const int n : {1, 2, 3, 5, 6, 7, 130}) {
      const TeamTable::Shape shape = {.teams = 8, .lanes = 1, .n_pes = n, .asked_scratch = asked};
      Heap of_n{*gpu, 65536, {shape.heap_bytes(), shape.zero_bytes()}};
      const TeamTable all{*gpu, of_n.own_memory(), shape, 0};
      const abi::Team& world = all.view().entries[0];
      const std::size_t share = world.slot_bytes + world.words_bytes + world.words_bytes / 2;
      EXPECT_LE(share * static_cast<unsigned>(n), all.view().scratch_bytes / 2) << n;
      EXPECT_GE(world.slot_bytes, 64u) << n;
      EXPECT_GE(world.words_bytes, 32u) << n;
      EXPECT_EQ(world.slot_bytes % 64, 0u) << n;
      // What words bring is half as long, and elements of 16 bytes begin there.
      EXPECT_EQ(world.words_bytes % 32, 0u) << n;
    }
}

TEST_F(Table, GivesAnEntryOnceAndAgainWhenItsTeamHasEnded) {
  const chime_team_t first = make(Members(Triplet{0, 1, 6}));
  EXPECT_EQ(first, abi::team_handle(7, 1));
  EXPECT_EQ(make(Members(Triplet{0, 1, 6})), abi::team_handle(8, 2));
  table.remove(first, false);
  EXPECT_FALSE(table.find(first));
  EXPECT_EQ(entry(first).handle, -1);
  EXPECT_EQ(make(Members(Triplet{0, 1, 6})), abi::team_handle(7, 3));
  EXPECT_FALSE(table.find(first));
}

TEST_F(Table, GivesNoEntryWhoseTeamHasFailed) {
  const chime_team_t failed = make(Members(Triplet{0, 1, 6}));
  table.remove(failed, true);
  EXPECT_EQ(abi::team_index(make(Members(Triplet{0, 1, 6}))), 8);
  // Nor an entry whose members failed to make another team of themselves.
  const chime_team_t parent = make(Members(Triplet{0, 1, 6}));
  entry(parent).areas[kShape.lanes].failed = 1;
  table.remove(parent, false);
  EXPECT_EQ(abi::team_index(make(Members(Triplet{0, 1, 6}))), 10);
}

// A call that ended on some members alone: those have teams in these entries.
TEST_F(Table, GivesNoEntryThatOthersMayUse) {
  const TeamProposal agreed = table.propose();
  table.leave_to_others(agreed, 2);
  EXPECT_EQ(table.propose().last, agreed.last + 1);
  EXPECT_EQ(abi::team_index(make(Members(Triplet{0, 1, 6}))), 9);
}

TEST_F(Table, HasNumbersForAboutSixteenMillionTeams) {
  TeamProposal agreed = table.propose();
  agreed.last = (1 << 24) - 2;
  table.check_numbers(agreed);
  ++agreed.last;
  EXPECT_THROW(table.check_numbers(agreed), Error);
}

TEST_F(Table, LeavesTheEntryFreeWhereThisPeIsNoMember) {
  EXPECT_EQ(make(Members(Triplet{0, 1, 2})), CHIME_TEAM_INVALID);
  EXPECT_EQ(abi::team_index(make(Members(Triplet{0, 1, 6}))), 7);
}

// Two teams of one call take entries that all PEs have free, not this PE's first free ones.
TEST_F(Table, TakesWhatAllHaveFree) {
  TeamProposal agreed = table.propose();
  agreed.free[0] &= ~std::uint64_t{0b1110000000};  // 7, 8 and 9 belong to another team
  const TeamTable::Plan plans[] = {{Members(Triplet{0, 1, 2})}, {Members(Triplet{0, 1, 6})}};
  EXPECT_EQ(table.accept(agreed, plans),
            (std::vector<chime_team_t>{CHIME_TEAM_INVALID, abi::team_handle(11, 1)}));
  agreed.free = {std::uint64_t{1} << 20, 0};
  EXPECT_TRUE(table.has_room(agreed, 1));
  EXPECT_FALSE(table.has_room(agreed, 2));
}

// A later team of an entry begins above all counts of earlier teams of these members.
TEST_F(Table, NumbersTeamsInTheOrderOfTheirMaking) {
  const chime_team_t first = make(Members(Triplet{0, 1, 6}));
  const std::uint64_t epoch = entry(first).first_epoch;
  EXPECT_GT(epoch, 0u);
  table.remove(first, false);
  TeamProposal agreed = table.propose();
  EXPECT_EQ(agreed.last, 1u);
  agreed.last = 41;  // another member has made more teams
  const TeamTable::Plan plan = {Members(Triplet{0, 1, 6})};
  const chime_team_t later = table.accept(agreed, std::span(&plan, 1))[0];
  EXPECT_EQ(abi::team_index(later), abi::team_index(first));
  EXPECT_GE(entry(later).first_epoch, epoch + (std::uint64_t{40} << 40));
  EXPECT_EQ(table.propose().last, 42u);
}

TEST_F(Table, FindsTheTeamOfAnAddress) {
  const chime_team_t team = make(Members(Triplet{0, 1, 6}));
  const auto team_at = [&](const void* word) {
    return table.team_at(static_cast<const std::byte*>(word));
  };
  EXPECT_EQ(team_at(&entry(team).areas[2].flags[1].arrived), team | 2 << 12);
  EXPECT_EQ(team_at(&entry(CHIME_TEAM_WORLD).areas->epoch), CHIME_TEAM_WORLD);
  EXPECT_EQ(team_at(&entry(team).areas[4]), std::nullopt);  // of no team
  EXPECT_EQ(team_at(heap.base()), std::nullopt);
  EXPECT_EQ(team_at(heap.base() + heap.bytes() - 1), std::nullopt);
  EXPECT_EQ(table.words(team | 3 << 12), table.words(team));  // the members' agreements
  EXPECT_EQ(table.words(team), "team 1048583 (PEs 0-5)");
  EXPECT_EQ(table.words(99), "team 99");
}

TEST(MembersOfATeam, AreNamedByRanges) {
  EXPECT_EQ(Members(Triplet{3, 1, 1}).words(), "PE 3");
  EXPECT_EQ(Members(std::vector{7, 0, 2, 1, 9, 8}).words(), "PEs 0-2, 7-9");
  EXPECT_EQ(Members(Triplet{0, 2, 12}).words(), "PEs 0, 2, 4, 6, 8, 10, 12, 14 and 4 more");
}

TEST(MembersOfATeam, HaveSubsets) {
  const Members strided(Triplet{10, -3, 4});  // 10, 7, 4, 1
  EXPECT_TRUE(strided.fits({3, -1, 4}));
  const Members back = strided.subset({3, -2, 2});
  EXPECT_EQ(back.pe(0), 1);
  EXPECT_EQ(back.pe(1), 7);
  EXPECT_FALSE(strided.fits({3, -1, 5}));
  EXPECT_FALSE(strided.fits({0, 1, 0}));
  EXPECT_TRUE(strided.fits({2, 0, 1}));
  const Members list(std::vector{5, 1, 2});
  EXPECT_EQ(list.subset({2, -2, 2}).pe(0), 2);
  EXPECT_EQ(list.subset({2, -2, 2}).pe(1), 5);
  EXPECT_EQ(list.rank(2), 2);
  EXPECT_EQ(list.rank(3), -1);
}

}  // namespace
}  // namespace chime::host
