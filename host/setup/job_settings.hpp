// Variables that have one value in a job. Where PEs differed, one would wait for what another never
// does, and the wait's error would name neither the variable nor its values; or their heaps would
// differ, and no address be symmetric.
#pragma once

#include "bootstrap/bootstrap.hpp"
#include "host/settings/env.hpp"

namespace chime::host {

// Compares this PE's with those of PE 0. Throws Error{<variable>, MISMATCH} naming both values.
void check_job_settings(bootstrap::Bootstrap& bootstrap, const Settings& settings,
                        bootstrap::Deadline deadline);

}  // namespace chime::host
