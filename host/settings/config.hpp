// Settings that a program passes to chimex_init_config instead of variables of the environment.
#pragma once

#define CHIME_HOST_ONLY
#include "chime/chime.h"
#include "host/settings/env.hpp"

namespace chime::host {

// The lookup for read_settings: first `config`, then the environment. Null: the environment alone.
// Throws Error{INVALID} that names an entry that is unknown, null, or read from the environment
// alone.
Lookup lookup_of(const chimex_config_t* config);

}  // namespace chime::host
