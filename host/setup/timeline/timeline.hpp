// The timeline of a job (CHIME_TRACE), from joining to leaving. host/trace/README.md has the order.
#pragma once

#include <cstdint>

#include "host/pe/runtime.hpp"

namespace chime::host {

// By each PE before it takes a device. Throws Error{CHIME_TRACE} where the file cannot be written.
void start_timeline(const Runtime& runtime);

// By each PE when all are known to have the same settings: clocks of hosts are compared, and again
// at the end, for they drift apart. The PEs wait for PE 0.
void align_timeline(const Runtime& runtime);

// The PE records nothing more. Before the last meeting, so that PE 0 finds all parts closed. Where
// the hosts of a job that `is_well` share no clock or no disk, the PEs wait for each other.
void stop_timeline(const Runtime& runtime, bool is_well);

// By PE 0 after it: makes the file. A failure is a warning, which says how to make it.
void join_timeline(const Runtime& runtime);

}  // namespace chime::host
