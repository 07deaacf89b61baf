// What collectives of the host are checked for before they begin.
#pragma once

#include "chime/host_ops.h"
#include "host/pe/runtime.hpp"

namespace chime::host {

// Throws if there is no such collective, this PE is in no such team, or a GPU does not reach the
// memory.
void check_collective(Runtime& runtime, const chime_collective_request& request);

}  // namespace chime::host
