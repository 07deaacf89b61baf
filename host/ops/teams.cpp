// Questions about the predefined teams, of host code. It knows the PEs of its node, which kernels
// do not (device/coll/team.cuh), and answers about WORLD and NODE before there is a heap.
#include "host/ops/teams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "chime/device/coll/team.cuh"
#include "chime/host_ops.h"
#include "host/errors/error.hpp"
#include "host/errors/step.hpp"
#include "host/pe/pe.hpp"
#include "host/report/guard.hpp"
#include "host/report/team_words.hpp"

namespace chime::host {
namespace {

[[noreturn]] void refuse(Operation operation, chime_team_t team) {
  const int status = chime::detail::team_refusal(operation, team).status;
  throw Error("", static_cast<chimex_status>(status), team_sentence(operation, team));
}

std::vector<int> pes_of_node() {
  const Runtime& runtime = current_runtime();
  return step("finding the node's PEs", [&] { return runtime.bootstrap->node().pes; });
}

std::vector<int> mapped_pes() {
  ready_runtime();
  const Context& ctx = current_slot()->host_context;
  std::vector<int> pes;
  for (int pe = 0; pe < ctx.pe.n_pes; ++pe)
    if (chime::detail::is_shared(ctx, pe)) pes.push_back(pe);
  return pes;
}

std::vector<int> all_pes() {
  std::vector<int> pes(static_cast<std::size_t>(current_runtime().n_pes()));
  std::iota(pes.begin(), pes.end(), 0);
  return pes;
}

// The PEs of `team`, by their numbers in it. None has no members.
std::vector<int> members(Operation operation, chime_team_t team) {
  switch (team) {
    case CHIME_TEAM_INVALID:
      return {};
    case CHIME_TEAM_WORLD:
      return all_pes();
    case CHIME_TEAM_SHARED:
      return mapped_pes();
    case CHIMEX_TEAM_NODE:
      return pes_of_node();
    case CHIMEX_TEAM_SAME_MYPE_NODE:
      if (pes_of_node().size() == all_pes().size()) return {current_pe_or_none()};
  }
  refuse(operation, team);
}

// The number of `pe` among them; -1 if it is none of them.
int rank_among(const std::vector<int>& pes, int pe) {
  const auto found = std::ranges::find(pes, pe);
  return found == pes.end() ? -1 : static_cast<int>(found - pes.begin());
}

// The result of `ask`, and -1 after an error, which has been reported.
template <class Ask>
int answer(Operation operation, Ask ask) {
  int found = -1;
  guarded(operation, [&] { found = ask(); });
  return found;
}

}  // namespace

bool all_pes_meet_in(chime_team_t team) {
  if (team == CHIME_TEAM_INVALID) refuse(Operation::kBarrier, team);
  const std::size_t size = members(Operation::kBarrier, team).size();
  if (size == all_pes().size()) return true;
  if (size != 1) refuse(Operation::kBarrier, team);
  return false;
}

void check_team(chime_team_t team) {
  if (!chime::detail::team_exists(team)) refuse(Operation::kTeamNPes, team);
}

}  // namespace chime::host

using namespace chime::host;  // NOLINT: the functions below only forward into it
using chime::Operation;

extern "C" {

int chime_host_team_my_pe(chime_team_t team) {
  return answer(Operation::kTeamMyPe, [=] {
    return rank_among(members(Operation::kTeamMyPe, team), current_pe_or_none());
  });
}

int chime_host_team_n_pes(chime_team_t team) {
  return answer(Operation::kTeamNPes, [=] {
    const auto size = static_cast<int>(members(Operation::kTeamNPes, team).size());
    return size == 0 ? -1 : size;
  });
}

int chime_host_team_translate_pe(chime_team_t team, int pe, chime_team_t other) {
  if (team == CHIME_TEAM_INVALID || other == CHIME_TEAM_INVALID) return -1;
  return answer(Operation::kTeamTranslatePe, [=] {
    const std::vector<int> from = members(Operation::kTeamTranslatePe, team);
    const std::vector<int> to = members(Operation::kTeamTranslatePe, other);
    if (pe < 0 || static_cast<std::size_t>(pe) >= from.size()) return -1;
    return rank_among(to, from[static_cast<std::size_t>(pe)]);
  });
}

}  // extern "C"
