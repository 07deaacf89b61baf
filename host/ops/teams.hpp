// The predefined teams on the host.
#pragma once

#include "chime/types.h"

namespace chime::host {

// Whether a meeting of `team` is one of all PEs; if not, the team is the calling PE alone. Throws
// for a team that cannot meet yet, and for what is none.
bool all_pes_meet_in(chime_team_t team);

// Throws for a number that is no team.
void check_team(chime_team_t team);

}  // namespace chime::host
