// The making and the end of teams: splits of every kind, refusals that are alike on all members,
// handles that name nothing any more, and thousands of teams one after another.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "chime/device/coll/team.cuh"
#include "chime/device/rma.cuh"
#include "teams.hpp"

namespace chime::tests {
namespace {

// The PEs of a team, as every query gives them.
std::vector<int> members_of(chime_team_t team) {
  std::vector<int> pes;
  for (int rank = 0; rank < chime_team_n_pes(team); ++rank)
    pes.push_back(chime_team_translate_pe(team, rank, CHIME_TEAM_WORLD));
  return pes;
}

// The number in the variable; CTest sets some.
int number_of(const char* variable, int fallback) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? fallback : std::atoi(text);
}
int entries() { return number_of("CHIME_MAX_TEAMS", 256); }
int lanes() { return number_of("CHIME_TEAM_LANES", 8); }
unsigned timeout_s() { return static_cast<unsigned>(number_of("CHIME_TIMEOUT", 60)); }

// The error of a call that fails; its team, if any, is invalid.
template <class Call>
void expect_refused(chimex_status status, const char* words, Call call) {
  EXPECT_EQ(status, call());
  EXPECT_NE(nullptr, std::strstr(chimex_last_error(), words)) << chimex_last_error();
}

IN_EVERY_WORLD(Split, GivesEachMemberItsRank) {
  world.spawn(1, [](Pe& pe) {
    for (const Shape& shape : shapes_of(pe.size())) {
      const Made team(CHIME_TEAM_WORLD, shape);
      const std::vector<int> pes = shape.pes();
      EXPECT_EQ(rank_of(pe.rank(), pes) >= 0, team.has_me()) << shape.name;
      EXPECT_EQ(rank_of(pe.rank(), pes), chime_team_my_pe(team)) << shape.name;
      if (!team.has_me()) continue;
      EXPECT_EQ(pes, members_of(team)) << shape.name;
      for (int each = 0; each < pe.size(); ++each)
        EXPECT_EQ(rank_of(each, pes), chime_team_translate_pe(CHIME_TEAM_WORLD, each, team));
      EXPECT_EQ(-1, chime_team_translate_pe(team, static_cast<int>(pes.size()), CHIME_TEAM_WORLD));
      EXPECT_EQ(-1, chime_team_translate_pe(team, -1, CHIME_TEAM_WORLD));
      EXPECT_EQ(CHIMEX_OK, chime_team_sync(team)) << shape.name << ": " << chimex_last_error();
    }
  });
}

// All ranks, every third first: from four PEs on this is no stride.
IN_EVERY_WORLD(SplitList, KeepsItsOrder) {
  world.spawn(1, [](Pe& pe) {
    std::vector<int> ranks;
    for (int first = 2; first >= 0; --first)
      for (int rank = first; rank < pe.size(); rank += 3) ranks.push_back(rank);
    chime_team_t made = CHIME_TEAM_INVALID;
    ASSERT_EQ(CHIMEX_OK,
              chimex_team_split_list(CHIME_TEAM_WORLD, ranks.data(), pe.size(), nullptr, 0, &made));
    const Made list(made);
    EXPECT_EQ(ranks, members_of(list));
    for (int round = 0; round < 5; ++round) EXPECT_EQ(CHIMEX_OK, chime_barrier(list));
    // A list that is a stride, and a list of that list.
    const Made second(list, {"every second", 0, 2, (pe.size() + 1) / 2});
    std::vector<int> expected;
    for (std::size_t i = 0; i < ranks.size(); i += 2) expected.push_back(ranks[i]);
    EXPECT_EQ(rank_of(pe.rank(), expected) >= 0, second.has_me());
    if (second.has_me()) {
      EXPECT_EQ(expected, members_of(second));
      EXPECT_EQ(CHIMEX_OK, chime_team_sync(second));
    }
    pe.barrier();
  });
}

// As programs of NVSHMEM do: each PE names the group that it is in.
IN_EVERY_WORLD(Split, OfGroupsThatEachNameThemselves) {
  world.spawn(2, [](Pe& pe) {
    const int groups = pe.size() % 2 == 0 ? 2 : pe.size(), group = pe.rank() % groups;
    const Made team(CHIME_TEAM_WORLD, {"my group", group, groups, pe.size() / groups});
    ASSERT_TRUE(team.has_me());
    EXPECT_EQ(pe.rank() / groups, chime_team_my_pe(team));
    EXPECT_EQ(group, chime_team_translate_pe(team, 0, CHIME_TEAM_WORLD));
    for (int round = 0; round < 5; ++round) EXPECT_EQ(CHIMEX_OK, chime_barrier(team));
    // The other groups have the same entry: a team of all takes another one.
    const Made whole(CHIME_TEAM_WORLD, {"whole", 0, 1, pe.size()});
    EXPECT_NE(static_cast<chime_team_t>(team), static_cast<chime_team_t>(whole));
    EXPECT_EQ(CHIMEX_OK, chime_barrier(whole));
  });
}

IN_EVERY_WORLD(Split2d, MakesRowsAndColumns) {
  world.spawn(1, [](Pe& pe) {
    const int n = pe.size(), me = pe.rank();
    for (int xrange = 1; xrange <= n + 1; ++xrange) {
      chime_team_t x = CHIME_TEAM_INVALID, y = CHIME_TEAM_INVALID;
      ASSERT_EQ(CHIMEX_OK,
                chime_team_split_2d(CHIME_TEAM_WORLD, xrange, nullptr, 0, &x, nullptr, 0, &y));
      const Made row(x), column(y);
      std::vector<int> in_row, in_column;
      for (int other = 0; other < n; ++other) {
        if (other / xrange == me / xrange) in_row.push_back(other);
        if (other % xrange == me % xrange) in_column.push_back(other);
      }
      EXPECT_EQ(in_row, members_of(row)) << xrange;
      EXPECT_EQ(in_column, members_of(column)) << xrange;
      EXPECT_NE(x, y);
      EXPECT_EQ(CHIMEX_OK, chime_team_sync(row));
      EXPECT_EQ(CHIMEX_OK, chime_team_sync(column));
    }
  });
}

IN_EVERY_WORLD(Predefined, TeamsMeetAndSplit) {
  world.spawn(1, [](Pe& pe) {
    for (const chime_team_t team :
         {CHIME_TEAM_WORLD, CHIME_TEAM_SHARED, CHIMEX_TEAM_NODE, CHIMEX_TEAM_SAME_MYPE_NODE}) {
      EXPECT_EQ(CHIMEX_OK, chime_barrier(team)) << team << ": " << chimex_last_error();
      EXPECT_EQ(CHIMEX_OK, chime_team_sync(team)) << team << ": " << chimex_last_error();
      const int n = chime_team_n_pes(team);
      EXPECT_EQ(pe.rank(), members_of(team)[std::size_t(chime_team_my_pe(team))]);
      const Made reversed(team, {"reversed", n - 1, -1, n});
      EXPECT_EQ(n - 1 - chime_team_my_pe(team), chime_team_my_pe(reversed));
      EXPECT_EQ(CHIMEX_OK, chime_barrier(reversed)) << chimex_last_error();
    }
  });
}

// From each node the PE with this one's number there; kernels see it after the host.
CHIME_KERNEL void sizes_of_predefined(CHIME_GRID_CONSTANT const Context context, int* sizes) {
  for (const chime_team_t team :
       {CHIME_TEAM_WORLD, CHIME_TEAM_SHARED, CHIMEX_TEAM_NODE, CHIMEX_TEAM_SAME_MYPE_NODE})
    sizes[team] = team_n_pes(context, team);
}
IN_EVERY_WORLD(Predefined, SameMypeNodeCrossesTheNodes) {
  world.spawn(1, [](Pe& pe) {
    const std::vector<int> same = members_of(CHIMEX_TEAM_SAME_MYPE_NODE);
    const int mine = chime_team_my_pe(CHIMEX_TEAM_NODE);
    ASSERT_FALSE(same.empty());
    EXPECT_EQ(pe.rank(), same[std::size_t(chime_team_my_pe(CHIMEX_TEAM_SAME_MYPE_NODE))]);
    for (const int other : same) {
      const int there = chime_team_translate_pe(CHIME_TEAM_WORLD, other, CHIMEX_TEAM_NODE);
      EXPECT_EQ(other == pe.rank() ? mine : -1, there) << other;
    }
    EXPECT_EQ(mine, chimex_node_my_pe());
    Private<int> sizes(4);
    pe.run(1, 1, sizes_of_predefined, pe.context(), sizes.data());
    EXPECT_EQ((std::vector{pe.size(), chime_team_n_pes(CHIME_TEAM_SHARED), chimex_node_n_pes(),
                           static_cast<int>(same.size())}),
              sizes.read());
    pe.barrier();
  });
}

// ---- Refusals -----------------------------------------------------------------------------------

IN_EVERY_WORLD(Split, RefusesAlikeOnAllMembers) {
  world.spawn(1, [](Pe& pe) {
    const int n = pe.size();
    const Shape wrong[] = {{"no size", 0, 1, 0},
                           {"negative size", 0, 1, -1},
                           {"too many", 0, 1, n + 1},
                           {"beyond the end", n - 1, 1, 2},
                           {"before the start", 0, -1, 2},
                           {"starts before", -1, 1, 1},
                           {"starts behind", n, 1, 1},
                           {"no stride", 0, 0, 2},
                           {"a stride that overflows", n - 1, 0x7fffffff, 3}};
    for (const Shape& shape : wrong) {
      chime_team_t team = 3;
      expect_refused(CHIMEX_ERR_INVALID, "name no PEs of a team of", [&] {
        return chime_team_split_strided(CHIME_TEAM_WORLD, shape.start, shape.stride, shape.size,
                                        nullptr, 0, &team);
      });
      EXPECT_EQ(CHIME_TEAM_INVALID, team) << shape.name;
    }
    chime_team_t x = 3, y = 3;
    expect_refused(CHIMEX_ERR_INVALID, "a row has at least one PE", [&] {
      return chime_team_split_2d(CHIME_TEAM_WORLD, 0, nullptr, 0, &x, nullptr, 0, &y);
    });
    EXPECT_EQ(CHIME_TEAM_INVALID, x);
    EXPECT_EQ(CHIME_TEAM_INVALID, y);
    const int twice[] = {0, 0};
    expect_refused(CHIMEX_ERR_INVALID, "rank 0 is named twice", [&] {
      return chimex_team_split_list(CHIME_TEAM_WORLD, twice, 2, nullptr, 0, &x);
    });
    // A stride of 0 gives a single PE, as any other stride.
    const Made single(CHIME_TEAM_WORLD, {"single", 0, 0, 1});
    EXPECT_EQ(pe.rank() == 0, single.has_me());
    // The refusals change nothing for teams that others make.
    const Made whole(CHIME_TEAM_WORLD, {"whole", 0, 1, n});
    EXPECT_EQ(CHIMEX_OK, chime_barrier(whole));
  });
}

IN_EVERY_WORLD(Split, OfMembersThatDifferIsAMismatchOnAll) {
  world.spawn(2, [](Pe& pe) {
    for (int turn = 0; turn < pe.size(); ++turn) {
      chime_team_t team = 3;
      const int size = pe.rank() == turn ? 2 : 1;  // one PE differs
      expect_refused(CHIMEX_ERR_MISMATCH, "do not split it alike", [&] {
        return chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, size, nullptr, 0, &team);
      });
      EXPECT_EQ(CHIME_TEAM_INVALID, team);
      // One that is wrong on one PE alone is refused there, and a mismatch on the others.
      const bool is_wrong = pe.rank() == turn;
      expect_refused(is_wrong ? CHIMEX_ERR_INVALID : CHIMEX_ERR_MISMATCH,
                     is_wrong ? "name no PEs of a team of" : "do not split it alike", [&] {
                       return chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, is_wrong ? 0 : 1,
                                                       nullptr, 0, &team);
                     });
    }
    // A split of another kind with the same number.
    chime_team_t x = 3, y = 3;
    expect_refused(CHIMEX_ERR_MISMATCH, "do not split it alike", [&] {
      const int rank = 1;
      return pe.rank() == 0
                 ? chime_team_split_2d(CHIME_TEAM_WORLD, 1, nullptr, 0, &x, nullptr, 0, &y)
                 : chimex_team_split_list(CHIME_TEAM_WORLD, &rank, 1, nullptr, 0, &x);
    });
    const Made whole(CHIME_TEAM_WORLD, {"whole", 0, 1, pe.size()});
    EXPECT_EQ(CHIMEX_OK, chime_barrier(whole));
  });
}

// A PE that is in no parent meets no other.
IN_EVERY_WORLD(Split, OfNoTeamIsRefusedAtOnce) {
  world.spawn(1, [](Pe& pe) {
    if (pe.rank() == 0) {
      chime_team_t team = 3;
      for (const chime_team_t parent : {chime_team_t{17}, chime_team_t{CHIME_TEAM_INVALID}}) {
        expect_refused(CHIMEX_ERR_INVALID, "there is no team ", [&] {
          return chime_team_split_strided(parent, 0, 1, 1, nullptr, 0, &team);
        });
        EXPECT_EQ(CHIME_TEAM_INVALID, team);
      }
    }
    pe.barrier();
  });
}

// Arguments that are wrong on PE 0 alone: it reports them, and the others do not wait for it.
IN_EVERY_WORLD(Split, OfArgumentsThatAreWrongOnOnePeFailsOnAll) {
  world.spawn(1, [](Pe& pe) {
    const bool is_wrong = pe.rank() == 0;
    const auto expect = [&](const char* words, const chime_team_config_t* config, long mask,
                            bool has_place) {
      chime_team_t team = 3;
      expect_refused(is_wrong ? CHIMEX_ERR_INVALID : CHIMEX_ERR_MISMATCH,
                     is_wrong ? words : "do not split it alike", [&] {
                       return chime_team_split_strided(
                           CHIME_TEAM_WORLD, 0, 1, 1, is_wrong ? config : nullptr,
                           is_wrong ? mask : 0, is_wrong && !has_place ? nullptr : &team);
                     });
    };
    const chime_team_config_t negative = {-1};
    expect("the argument new_team is null", nullptr, 0, false);
    expect("the argument config is null", nullptr, CHIME_TEAM_NUM_CONTEXTS, true);
    expect("num_contexts is -1", &negative, CHIME_TEAM_NUM_CONTEXTS, true);
    expect("names a member of no config", &negative, 2, true);
    const Made whole(CHIME_TEAM_WORLD, {"whole", 0, 1, pe.size()});
    EXPECT_EQ(CHIMEX_OK, chime_barrier(whole));
  });
}

// A kernel's error that no call has reported does not change the members' agreement.
CHIME_KERNEL void put_to_nobody(CHIME_GRID_CONSTANT const Context context, int* word) {
  p(context, word, 1, context.pe.n_pes);
}
IN_EVERY_WORLD(Split, SucceedsBesideAnErrorOfAKernel) {
  world.spawn(1, [](Pe& pe) {
    const Symmetric<int> word(1);
    if (pe.rank() == 0) {
      exec::launch({}, put_to_nobody, pe.context(), word.data());
      exec::device_synchronize();
    }
    chime_team_t team = CHIME_TEAM_INVALID;
    EXPECT_EQ(CHIMEX_OK,
              chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team))
        << chimex_last_error();
    chimex_async_error_t error;
    EXPECT_EQ(CHIMEX_OK, chimex_get_async_error(&error));
    EXPECT_EQ(pe.rank() == 0 ? CHIMEX_ERR_INVALID : CHIMEX_OK, error.status);
    chime_team_destroy(team);
    pe.barrier();
  });
}

// ---- Shrinking ----------------------------------------------------------------------------------

// tests/faults/survivors has those that lose a member.
IN_EVERY_WORLD(Shrink, OfATeamWhoseMembersLiveHasThemAll) {
  world.spawn(1, [](Pe& pe) {
    for (const Shape& shape : shapes_of(pe.size())) {
      const Made team(CHIME_TEAM_WORLD, shape);
      chime_team_t shrunk = 3;
      if (!team.has_me()) {
        expect_refused(CHIMEX_ERR_INVALID, "there is no team ",
                       [&] { return chimex_team_shrink(team, nullptr, 0, &shrunk); });
        EXPECT_EQ(CHIME_TEAM_INVALID, shrunk);
        continue;
      }
      for (int round = 0; round < 3; ++round) {
        const chime_team_t laned = chimex_team_lane(team, round);
        ASSERT_EQ(CHIMEX_OK, chimex_team_shrink(laned, nullptr, 0, &shrunk)) << shape.name;
        const Made made(shrunk);
        EXPECT_NE(static_cast<chime_team_t>(team), shrunk);
        EXPECT_EQ(members_of(team), members_of(made)) << shape.name;
        EXPECT_EQ(CHIMEX_OK, chime_barrier(made)) << chimex_last_error();
        EXPECT_EQ(CHIMEX_OK, chime_barrier(team)) << chimex_last_error();
      }
    }
  });
}

IN_EVERY_WORLD(Shrink, ConfigIsThatOfTheCall) {
  world.spawn(1, [](Pe&) {
    const chime_team_config_t config = {3};
    chime_team_t made = 3;
    ASSERT_EQ(CHIMEX_OK,
              chimex_team_shrink(CHIME_TEAM_WORLD, &config, CHIME_TEAM_NUM_CONTEXTS, &made));
    const Made team(made);
    chime_team_config_t found = {-7};
    EXPECT_EQ(CHIMEX_OK, chime_team_get_config(team, CHIME_TEAM_NUM_CONTEXTS, &found));
    EXPECT_EQ(3, found.num_contexts);
  });
}

IN_EVERY_WORLD(Shrink, OfArgumentsThatAreWrongOnOnePeFailsOnAll) {
  world.spawn(1, [](Pe& pe) {
    for (int turn = 0; turn < pe.size(); ++turn) {
      const bool is_wrong = pe.rank() == turn;
      const std::string others = "PE " + std::to_string(turn) + " refuses the call";
      chime_team_t made = 3;
      expect_refused(
          CHIMEX_ERR_INVALID, is_wrong ? "the argument new_team is null" : others.c_str(), [&] {
            return chimex_team_shrink(CHIME_TEAM_WORLD, nullptr, 0, is_wrong ? nullptr : &made);
          });
      EXPECT_EQ(is_wrong ? 3 : CHIME_TEAM_INVALID, made);
    }
    chime_team_t whole = CHIME_TEAM_INVALID;
    ASSERT_EQ(CHIMEX_OK, chimex_team_shrink(CHIME_TEAM_WORLD, nullptr, 0, &whole));
    const Made team(whole);
    EXPECT_EQ(CHIMEX_OK, chime_barrier(team)) << chimex_last_error();
  });
}

// ---- Configs, pointers and ends -----------------------------------------------------------------

IN_EVERY_WORLD(Config, IsThatOfTheSplit) {
  world.spawn(1, [](Pe& pe) {
    chime_team_config_t config = {5};
    chime_team_t asked = CHIME_TEAM_INVALID, unasked = CHIME_TEAM_INVALID;
    ASSERT_EQ(CHIMEX_OK, chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), &config,
                                                  CHIME_TEAM_NUM_CONTEXTS, &asked));
    ASSERT_EQ(CHIMEX_OK,
              chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), &config, 0, &unasked));
    const Made first(asked), second(unasked);
    const auto contexts_of = [](chime_team_t team) {
      chime_team_config_t found = {-7};
      EXPECT_EQ(CHIMEX_OK, chime_team_get_config(team, CHIME_TEAM_NUM_CONTEXTS, &found));
      return found.num_contexts;
    };
    EXPECT_EQ(5, contexts_of(first));
    EXPECT_EQ(0, contexts_of(second));
    EXPECT_EQ(0, contexts_of(CHIME_TEAM_WORLD));
    EXPECT_EQ(-7, contexts_of(CHIME_TEAM_INVALID));
    EXPECT_EQ(CHIMEX_ERR_INVALID, chime_team_get_config(17, CHIME_TEAM_NUM_CONTEXTS, &config));
    EXPECT_EQ(CHIMEX_ERR_INVALID,
              chime_team_get_config(CHIME_TEAM_WORLD, CHIME_TEAM_NUM_CONTEXTS, nullptr));
    EXPECT_EQ(CHIMEX_OK, chime_team_get_config(CHIME_TEAM_WORLD, 0, nullptr));
  });
}

IN_EVERY_WORLD(TeamPtr, IsThatOfTheMember) {
  world.spawn(1, [](Pe& pe) {
    const Symmetric<int> memory(1);
    const int n = pe.size();
    const Made reversed(CHIME_TEAM_WORLD, {"reversed", n - 1, -1, n});
    for (int rank = 0; rank < n; ++rank)
      EXPECT_EQ(chime_ptr(memory.data(), n - 1 - rank),
                chime_team_ptr(reversed, memory.data(), rank));
    EXPECT_EQ(nullptr, chime_team_ptr(reversed, memory.data(), n));
    EXPECT_EQ(nullptr, chime_team_ptr(reversed, memory.data(), -1));
  });
}

IN_EVERY_WORLD(Lane, IsAHandleOfTheTeam) {
  world.spawn(1, [](Pe& pe) {
    const Made team(CHIME_TEAM_WORLD, {"whole", 0, 1, pe.size()});
    for (int i = 0; i < lanes(); ++i) {
      const chime_team_t lane = chimex_team_lane(team, i);
      EXPECT_EQ(team | i << 12, lane);
      EXPECT_EQ(pe.rank(), chime_team_my_pe(lane));
      EXPECT_EQ(CHIMEX_OK, chime_team_sync(lane));
      EXPECT_EQ(static_cast<chime_team_t>(team), chimex_team_lane(lane, 0));
    }
    EXPECT_EQ(CHIME_TEAM_INVALID, chimex_team_lane(team, lanes()));
    EXPECT_EQ(CHIME_TEAM_INVALID, chimex_team_lane(team, -1));
    EXPECT_EQ(CHIMEX_ERR_INVALID, chime_team_sync(team | lanes() << 12));
  });
}

IN_EVERY_WORLD(Destroyed, TeamsAreNone) {
  world.spawn(1, [](Pe& pe) {
    chime_team_t team = CHIME_TEAM_INVALID, next = CHIME_TEAM_INVALID;
    ASSERT_EQ(CHIMEX_OK,
              chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team));
    chime_team_destroy(team);
    expect_refused(CHIMEX_ERR_INVALID, "it was destroyed", [&] { return chime_barrier(team); });
    EXPECT_EQ(-1, chime_team_n_pes(team));
    chime_team_destroy(team);
    EXPECT_NE(nullptr,
              std::strstr(chimex_last_error(), "chime_team_destroy: this PE is in no team"))
        << chimex_last_error();
    // Another team has its entry, but not its handle.
    ASSERT_EQ(CHIMEX_OK,
              chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &next));
    EXPECT_EQ(team & 4095, next & 4095);
    EXPECT_NE(team, next);
    EXPECT_EQ(CHIMEX_ERR_INVALID, chime_team_sync(team));
    EXPECT_EQ(CHIMEX_OK, chime_team_sync(next));
    chime_team_destroy(next);
    for (const chime_team_t predefined : {CHIME_TEAM_WORLD, CHIME_TEAM_SHARED, CHIMEX_TEAM_NODE}) {
      chime_team_destroy(predefined);
      EXPECT_NE(nullptr, std::strstr(chimex_last_error(), "is predefined")) << chimex_last_error();
    }
    chime_team_destroy(CHIME_TEAM_INVALID);
    EXPECT_EQ(CHIMEX_OK, chime_team_sync(CHIME_TEAM_WORLD));
  });
}

// ---- A member that does not come ----------------------------------------------------------------

// The first member does not come: a failure ends the meetings of its team, and a split of the
// parent's members ends the making of teams.
IN_EVERY_WORLD(Absent, MemberIsNamedWithItsRank) {
  if (timeout_s() > 5) GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s";
  world.spawn(2, [](Pe& pe) {
    const int n = pe.size();
    const Shape reversed = {"reversed", n - 1, -1, n}, pair = {"pair", 0, 1, 2};
    const auto split = [](chime_team_t parent, const Shape& shape, chime_team_t* team) {
      return chime_team_split_strided(parent, shape.start, shape.stride, shape.size, nullptr, 0,
                                      team);
    };
    chime_team_t left = CHIME_TEAM_INVALID, parent = CHIME_TEAM_INVALID, none = 3;
    ASSERT_EQ(CHIMEX_OK, split(CHIME_TEAM_WORLD, reversed, &left));
    ASSERT_EQ(CHIMEX_OK, split(CHIME_TEAM_WORLD, reversed, &parent));
    if (pe.rank() == 0) {
      sleep(2 * timeout_s());  // the others wait twice, and come to the next call
    } else {
      expect_refused(CHIMEX_ERR_TIMEOUT, ", rank ", [&] { return chime_team_sync(left); });
      EXPECT_NE(nullptr, std::strstr(chimex_last_error(), " of team ")) << chimex_last_error();
      const auto again = [&] { return chime_barrier(chimex_team_lane(left, 1)); };
      expect_refused(CHIMEX_ERR_TIMEOUT, "meets no more", again);
      EXPECT_NE(nullptr, std::strstr(chimex_last_error(), "; to blame is PE 0, rank "));
      expect_refused(CHIMEX_ERR_TIMEOUT, ", rank ", [&] { return split(parent, pair, &none); });
      EXPECT_EQ(CHIME_TEAM_INVALID, none);
      expect_refused(CHIMEX_ERR_TIMEOUT, "makes teams no more",
                     [&] { return split(parent, pair, &none); });
    }
    EXPECT_EQ(CHIMEX_OK, chime_team_sync(parent)) << chimex_last_error();
    EXPECT_EQ(CHIMEX_OK, chime_barrier(CHIME_TEAM_WORLD)) << chimex_last_error();
    const Made other(CHIME_TEAM_WORLD, pair);
    EXPECT_EQ(pe.rank() < 2, other.has_me());
    pe.barrier();
  });
}

// Whoever comes late hears that the others have given up.
IN_EVERY_WORLD(Absent, MemberFailsAShrinkOnAll) {
  if (timeout_s() > 5) GTEST_SKIP() << "needs CHIME_TIMEOUT of at most 5 s";
  constexpr unsigned kLaterS = 2;  // so that the others have given up, also on a busy machine
  world.spawn(2, [](Pe& pe) {
    chime_team_t team = 3;
    const auto shrink = [&] { return chimex_team_shrink(CHIME_TEAM_WORLD, nullptr, 0, &team); };
    // Members that are on time wait so long in the call. All come to the barrier together.
    const auto expect_absent = [&](int pe_that_is_late, unsigned waited_s) {
      const bool is_late = pe.rank() == pe_that_is_late;
      if (is_late) sleep(waited_s + kLaterS);
      const std::string words = "PE " + std::to_string(pe_that_is_late) + " has not come";
      expect_refused(CHIMEX_ERR_TIMEOUT, words.c_str(), shrink);
      EXPECT_EQ(CHIME_TEAM_INVALID, team);
      if (!is_late) sleep(kLaterS);
      EXPECT_EQ(CHIMEX_OK, chime_barrier(CHIME_TEAM_WORLD)) << chimex_last_error();
    };
    expect_absent(pe.size() - 1, timeout_s());
    ASSERT_EQ(CHIMEX_OK, shrink()) << chimex_last_error();
    EXPECT_EQ(CHIMEX_OK, chime_barrier(team)) << chimex_last_error();
    chime_team_destroy(team);
    // The member that decides: the others wait 2 s more for it, and then use no entry any more.
    expect_absent(0, timeout_s() + 2);
    expect_refused(CHIMEX_ERR_INVALID, "no entry in common", shrink);
  });
}

// ---- Many teams ---------------------------------------------------------------------------------

// Predefined teams and NVSHMEM's own have the first seven entries.
IN_EVERY_WORLD(Entries, ThatAreAllTakenAreNamed) {
  world.spawn(1, [](Pe& pe) {
    std::set<chime_team_t> teams;
    for (int i = 0; i < entries() - 7; ++i) {
      chime_team_t team = CHIME_TEAM_INVALID;
      ASSERT_EQ(CHIMEX_OK,
                chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &team))
          << i << ": " << chimex_last_error();
      EXPECT_TRUE(teams.insert(team).second) << "given twice: " << team;
    }
    chime_team_t one_more = 3, and_another = 3;
    expect_refused(CHIMEX_ERR_INVALID, "CHIME_MAX_TEAMS", [&] {
      return chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, 1, nullptr, 0, &one_more);
    });
    EXPECT_EQ(CHIME_TEAM_INVALID, one_more);
    chime_team_destroy(*teams.begin());
    teams.erase(teams.begin());
    // One entry is free, and two are needed: none is taken.
    expect_refused(CHIMEX_ERR_INVALID, "CHIME_MAX_TEAMS", [&] {
      return chime_team_split_2d(CHIME_TEAM_WORLD, 1, nullptr, 0, &one_more, nullptr, 0,
                                 &and_another);
    });
    ASSERT_EQ(CHIMEX_OK,
              chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, pe.size(), nullptr, 0, &one_more));
    EXPECT_TRUE(teams.insert(one_more).second);
    EXPECT_EQ(CHIMEX_OK, chime_barrier(one_more));
    for (const chime_team_t team : teams) chime_team_destroy(team);
  });
}

// Members change from team to team, so the entry that all have free is not each PE's lowest.
IN_EVERY_WORLD(Thousands, OfTeamsComeAndGo) {
  world.spawn(2, [](Pe& pe) {
    const int n = pe.size();
    constexpr int kTeams = 2100;  // more than handles have generations
    const Made kept(CHIME_TEAM_WORLD, {"kept by the last", n - 1, 1, 1});
    for (int i = 0; i < kTeams; ++i) {
      const Made team(CHIME_TEAM_WORLD, {"some", i % n, 1, n - i % n});
      EXPECT_EQ(i % n <= pe.rank(), team.has_me());
      EXPECT_EQ(team.has_me() ? pe.rank() - i % n : -1, chime_team_my_pe(team));
      if (i % 3 != 0) continue;
      EXPECT_EQ(team.has_me(), chime_team_sync(team) == CHIMEX_OK);
    }
    EXPECT_EQ(n - 1 == pe.rank(), kept.has_me());
  });
}

}  // namespace
}  // namespace chime::tests
