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

// Whether the operation moves data among a team's members.
bool is_collective(Operation operation);

// Whether it is a meeting of these: a collective, or one without data.
bool is_meeting(Operation operation);

// ", rank 1 of team 4103 (PEs 0, 2)", for a wait for PE 2 at `address` that is a meeting of another
// team than that of all PEs; else empty. No rank where `pe` is -1.
std::string of_team_words(const TeamTable& teams, const void* address, int pe);

// ", or for one of PEs 4-7, for which that one may wait," of a Fault::kWaitForWaiting; empty where
// that one waits for none before it sends.
std::string of_others_words(const TeamTable& teams, const abi::ErrorRecord& record);

// Why no member of the team is the root of a broadcast: Fault::kRoot.
std::string root_sentence(const TeamTable& teams, const abi::ErrorRecord& record);

// Which member of a team makes another call: Fault::kUnalike.
std::string unalike_sentence(const TeamTable& teams, const abi::ErrorRecord& record);

// Which member refuses a call: Fault::kRefused.
std::string refused_sentence(const TeamTable& teams, const abi::ErrorRecord& record);

// Why a team refuses to meet: Fault::kTeamFailed or kTeamInUse.
std::string team_refusal_sentence(const TeamTable& teams, const abi::ErrorRecord& record);

}  // namespace chime::host
