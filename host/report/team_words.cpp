#include "host/report/team_words.hpp"

#include <fmt/format.h>

#include "chime/types.h"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

const char* name_of_team(std::int64_t team) {
  switch (team) {
    case CHIME_TEAM_WORLD:
      return "WORLD";
    case CHIME_TEAM_SHARED:
      return "SHARED";
    case CHIMEX_TEAM_NODE:
      return "NODE";
    default:
      return "SAME_MYPE_NODE";
  }
}

}  // namespace

std::string team_sentence(Operation operation, std::int64_t team) {
  if (team < CHIME_TEAM_WORLD || team > CHIMEX_TEAM_SAME_MYPE_NODE)
    return fmt::format("there is no team {}; the teams are {} (0), {} (1), {} (2) and {} (3)", team,
                       spoken_constant("TEAM_WORLD"), spoken_constant("TEAM_SHARED"),
                       spoken_extended_constant("TEAM_NODE"),
                       spoken_extended_constant("TEAM_SAME_MYPE_NODE"));
  const bool would_meet = operation == Operation::kBarrier || operation == Operation::kTeamSync;
  if (would_meet)
    return fmt::format(
        "the team {} has some of this job's PEs, or its PEs are not known here; only a team of all "
        "PEs, or of one, can meet today: use the team WORLD, or {}",
        name_of_team(team), spoken("chime_barrier_all"));
  return fmt::format(
      "which PEs the team {} has in a job of several nodes is not known here; kernels know their "
      "own place in {} and its size, the host knows all its PEs",
      name_of_team(team), spoken_extended_constant("TEAM_NODE"));
}

}  // namespace chime::host
