// Errors about teams, in words.
#pragma once

#include <cstdint>
#include <string>

#include "chime/abi/operation.h"
#include "chime/abi/pe.h"
#include "host/teams/team_table.hpp"

namespace chime::host {

// Why the calling PE finds no team of this handle.
std::string team_sentence(std::int64_t team);

// Whether the operation is a meeting of a team's members.
bool is_meeting(Operation operation);

// ", rank 1 of team 4103 (PEs 0, 2)", for a wait for PE 2 at `address` that is a meeting of another
// team than that of all PEs; else empty. No rank where `pe` is -1.
std::string of_team_words(const TeamTable& teams, const void* address, int pe);

// ", or for one of PEs 4-7, for which that one may wait," for such a wait for PE `pe`, if so; else
// empty.
std::string of_group_words(const TeamTable& teams, const void* address, int pe);

// Why no member of the team is the root of a broadcast: Fault::kRoot.
std::string root_sentence(const TeamTable& teams, const abi::ErrorRecord& record);

// Which member of a team makes another call: Fault::kUnalike.
std::string unalike_sentence(const TeamTable& teams, const abi::ErrorRecord& record);

// Which member refuses a call: Fault::kRefused.
std::string refused_sentence(const TeamTable& teams, const abi::ErrorRecord& record);

// Why a team refuses to meet: Fault::kTeamFailed or kTeamInUse.
std::string team_refusal_sentence(const TeamTable& teams, const abi::ErrorRecord& record);

}  // namespace chime::host
