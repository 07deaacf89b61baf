// A team of those members of a team that live, as they decide it (living.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "host/errors/abort.hpp"
#include "host/errors/error.hpp"
#include "host/errors/step.hpp"
#include "host/ops/teams/living.hpp"
#include "host/ops/teams/teams.hpp"
#include "host/report/async_error.hpp"

namespace chime::host {
namespace {

// REQUIRES: `team` outlives it.
Shrink call_of(Runtime& runtime, const KnownTeam& team, std::string name) {
  return {.bootstrap = *runtime.bootstrap,
          .members = team.members,
          .my_rank = team.my_rank,
          .name = std::move(name),
          .is_dead = [&runtime](int pe) { return runtime.device->peers.is_dead(pe); },
          .need_no_abort =
              [&runtime] {
                if (abort_cause(runtime.device->control().abort)) throw_async_error(runtime);
              },
          .limit = members_limit(runtime.settings)};
}

}  // namespace

chime_team_t shrink_team(chime_team_t team, const TeamRequest& request) {
  Runtime& runtime = ready_runtime();
  const KnownTeam known = known_team(runtime, Operation::kTeamSplit, team);
  TeamTable& table = *runtime.device->teams;
  const std::lock_guard one_at_a_time(runtime.device->one_team_maker);
  const int calls_before = runtime.device->shrinks[{known.handle, known.number}]++;
  const Shrink shrink =
      call_of(runtime, known, fmt::format("{}.{}.{}", known.handle, known.number, calls_before));
  Offer own = {.refuses = request.refusal != nullptr, .proposal = table.propose()};
  for (int rank = 0; rank < known.members.size(); ++rank)
    if (const int pe = known.members.pe(rank); shrink.is_dead(pe)) own.dead.push_back(pe);
  Decision decision;
  try {
    decision = step("finding the members that live", [&] { return decide(shrink, own); });
  } catch (const Error&) {
    table.give_up_free_entries();  // the others may have taken any of them
    throw;
  }
  if (decision.status == CHIMEX_ERR_TIMEOUT) throw_error(decision);
  if (request.refusal) std::rethrow_exception(request.refusal);
  if (decision.status != CHIMEX_OK) throw_error(decision);
  if (std::ranges::find(decision.pes, runtime.my_pe()) == decision.pes.end())
    throw Error("", CHIMEX_ERR_PEER_DEAD,
                fmt::format("the other members of {} take PE {} for dead", table.words(team),
                            runtime.my_pe()));
  need_room(table, decision.proposal, 1,
            fmt::format("the living members of {}", table.words(team)));
  const TeamTable::Plan plan = {Members(std::move(decision.pes)), request.num_contexts};
  return table.accept(decision.proposal, std::span(&plan, 1))[0];
}

}  // namespace chime::host
