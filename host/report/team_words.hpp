// Errors about teams, in words.
#pragma once

#include <cstdint>
#include <string>

#include "chime/abi/operation.h"

namespace chime::host {

// Why `operation` refuses the team.
std::string team_sentence(Operation operation, std::int64_t team);

}  // namespace chime::host
