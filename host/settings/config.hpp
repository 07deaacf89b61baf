// What a program passes to chimex_init_config instead of variables of the environment.
#pragma once

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "host/settings/env.hpp"

namespace chime::host {

// What read_settings is to ask: first `config`, then the environment. Null: the environment alone.
// Throws Error{INVALID} that names what is unknown, null, or read from the environment alone.
Lookup lookup_of(const chimex_config_t* config);

}  // namespace chime::host
