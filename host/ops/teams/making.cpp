// How a team makes another one, and how it ends (device/coll/README.md has the argument).
//
// Members compare their calls and agree on entries of the team table. Then each decides alone, all
// alike, and they confirm that all have agreed: no team is made if a member has not.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/errors/error.hpp"
#include "host/ops/teams/teams.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

// What all members ask for alike. The start of a stride is not in it: groups of one shape may each
// name themselves.
struct Asked {
  enum Kind : int { kRefused, kStrided, kTwoDimensional, kList };
  Kind kind;
  std::vector<int> numbers;
};

// FNV-1a over the fields.
std::uint64_t digest_of(const Asked& asked) {
  std::uint64_t digest = 14695981039346656037u;
  const auto add = [&](int number) {
    const auto bits = static_cast<std::uint32_t>(number);
    for (int byte = 0; byte < 4; ++byte)
      digest = (digest ^ (bits >> (8 * byte) & 0xff)) * 1099511628211u;
  };
  add(asked.kind);
  for (const int number : asked.numbers) add(number);
  return digest;
}

// The words in which the members agree: the number, then a digest and its complement. Bits that
// all have are these of one digest only if all have the same.
std::vector<std::uint64_t> words_of(const TeamProposal& proposal, std::uint64_t digest) {
  std::vector<std::uint64_t> words = {proposal.last, digest, ~digest};
  words.insert(words.end(), proposal.free.begin(), proposal.free.end());
  return words;
}
TeamProposal proposal_in(const std::vector<std::uint64_t>& words) {
  return {words[0], {words.begin() + 3, words.end()}};
}
bool all_have_asked_for_the_same(const std::vector<std::uint64_t>& words) {
  return words[1] == ~words[2];
}

// What all members of the parent have or reach, of what each brings.
std::vector<std::uint64_t> agreed(Runtime& runtime, const KnownTeam& parent,
                                  std::vector<std::uint64_t> words) {
  Gpu& gpu = *runtime.device->gpu;
  std::uint64_t* const memory = runtime.device->teams->agreement(parent);
  const std::size_t bytes = words.size() * sizeof(std::uint64_t);
  const SyncCall call = {Operation::kTeamSplit, parent.handle,
                         static_cast<std::uint32_t>(words.size())};
  gpu.copy(memory, words.data(), bytes);
  meet_alone(call);
  gpu.copy(words.data(), memory, bytes);
  return words;
}

// Ends when all members have agreed, so that each makes the teams. If it fails, some may have made
// them.
void confirm(TeamTable& table, const KnownTeam& parent, const TeamProposal& common,
             std::size_t teams) {
  try {
    meet_alone({Operation::kTeamSplit, parent.handle});
  } catch (const Error&) {
    table.leave_to_others(common, teams);
    throw;
  }
}

// `plans` says which teams this PE's call makes, or throws why it makes none. Such a PE takes part
// in the agreement all the same, so that its call fails on all members.
template <class Plans>
std::vector<chime_team_t> make_teams(chime_team_t parent, Asked asked, std::exception_ptr refusal,
                                     Plans plans) {
  Runtime& runtime = ready_runtime();
  const KnownTeam from = known_team(runtime, Operation::kTeamSplit, parent);
  TeamTable& table = *runtime.device->teams;
  std::vector<TeamTable::Plan> made;
  try {
    if (refusal) std::rethrow_exception(refusal);
    made = plans(from.members);
  } catch (...) {
    refusal = std::current_exception();
    asked = {Asked::kRefused, {}};
  }
  const std::lock_guard one_at_a_time(runtime.device->one_team_maker);
  const auto words = agreed(runtime, from, words_of(table.propose(), digest_of(asked)));
  if (refusal) std::rethrow_exception(refusal);
  if (!all_have_asked_for_the_same(words))
    throw Error("", CHIMEX_ERR_MISMATCH,
                fmt::format("the members of {} do not split it alike; all of them make the same "
                            "call, with the same numbers (but groups may differ in their start)",
                            table.words(parent)));
  const TeamProposal common = proposal_in(words);
  need_room(table, common, made.size(), fmt::format("the members of {}", table.words(parent)));
  confirm(table, from, common, made.size());
  return table.accept(common, made);
}

}  // namespace

void need_room(const TeamTable& table, const TeamProposal& common, std::size_t teams,
               const std::string& members) {
  table.check_numbers(common);
  if (!table.has_room(common, teams))
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("{} have no entry in common that is free, of {}; destroy teams, or "
                            "set CHIME_MAX_TEAMS higher, on all PEs",
                            members, table.shape().teams));
}

chime_team_t split_strided(chime_team_t parent, const Triplet& ranks, const TeamRequest& request) {
  const Asked asked = {Asked::kStrided, {ranks.stride, ranks.size}};
  return make_teams(parent, asked, request.refusal, [&](const Members& members) {
    if (!members.fits(ranks))
      throw Error(
          "", CHIMEX_ERR_INVALID,
          fmt::format("start {}, stride {} and size {} name no PEs of a team of {}, each "
                      "once: start + i * stride must be 0 to {} for i from 0 to size - 1",
                      ranks.start, ranks.stride, ranks.size, members.size(), members.size() - 1));
    return std::vector{TeamTable::Plan{members.subset(ranks), request.num_contexts}};
  })[0];
}

chime_team_t split_list(chime_team_t parent, const std::vector<int>& ranks,
                        const TeamRequest& request) {
  return make_teams(parent, {Asked::kList, ranks}, request.refusal, [&](const Members& members) {
    std::vector<int> pes;
    std::vector<bool> is_named(static_cast<std::size_t>(members.size()));
    for (const int rank : ranks) {
      if (rank < 0 || rank >= members.size() || is_named[static_cast<std::size_t>(rank)])
        throw Error("", CHIMEX_ERR_INVALID,
                    fmt::format("rank {} is named twice, or is none of a team of {}", rank,
                                members.size()));
      is_named[static_cast<std::size_t>(rank)] = true;
      pes.push_back(members.pe(rank));
    }
    if (pes.empty()) throw Error("", CHIMEX_ERR_INVALID, "a team has at least one PE");
    return std::vector{TeamTable::Plan{Members(std::move(pes)), request.num_contexts}};
  })[0];
}

RowAndColumn split_2d(chime_team_t parent, int xrange, const TeamRequest& x_request,
                      const TeamRequest& y_request) {
  const std::exception_ptr refusal = x_request.refusal ? x_request.refusal : y_request.refusal;
  const auto made =
      make_teams(parent, {Asked::kTwoDimensional, {xrange}}, refusal, [&](const Members& members) {
        if (xrange <= 0)
          throw Error("", CHIMEX_ERR_INVALID,
                      fmt::format("xrange is {}, and a row has at least one PE", xrange));
        const int size = members.size(), width = std::min(xrange, size);
        const int my_rank = members.rank(current_pe_or_none());
        const int row = my_rank / width * width, column = my_rank % width;
        const Triplet in_row = {row, 1, std::min(width, size - row)};
        const Triplet in_column = {column, width, (size - column + width - 1) / width};
        return std::vector{TeamTable::Plan{members.subset(in_row), x_request.num_contexts},
                           TeamTable::Plan{members.subset(in_column), y_request.num_contexts}};
      });
  return {made[0], made[1]};
}

void meet_or_remove(TeamTable& table, chime_team_t team) {
  try {
    meet_alone({Operation::kTeamSync, team});
  } catch (const Error&) {
    table.remove(team, true);
    throw;
  }
}

int contexts_of(chime_team_t team) {
  return known_team(ready_runtime(), Operation::kTeamNPes, team).num_contexts;
}

void destroy_team(chime_team_t team) {
  if (team == CHIME_TEAM_INVALID) return;
  Runtime& runtime = ready_runtime();
  const KnownTeam known = known_team(runtime, Operation::kTeamSync, team);
  if (abi::team_index(known.handle) < TeamTable::kFirstOfProgram)
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("the team {} is predefined and lasts until {}", team,
                            spoken("chime_finalize")));
  // When all have come, nothing that a member has sent in a meeting is in flight to another one.
  meet_or_remove(*runtime.device->teams, known.handle);
  runtime.device->teams->remove(known.handle, false);
}

}  // namespace chime::host
