// The predefined teams on the host, and the words of errors about teams.
#pragma once

#include <cstdint>
#include <string>

#include "chime/abi/operation.h"
#include "chime/types.h"

namespace chime::host {

// Whether a meeting of `team` is one of all PEs; if not, the team is the calling PE alone. Throws
// for a team that cannot meet yet, and for what is none.
bool all_pes_meet_in(chime_team_t team);

// Throws for a number that is no team.
void check_team(chime_team_t team);

// Why `operation` refuses the team.
std::string team_sentence(Operation operation, std::int64_t team);

}  // namespace chime::host
