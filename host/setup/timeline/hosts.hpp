// A timeline of hosts that share no clock or no disk: their PEs set their times to PE 0's clock,
// and send it their parts, over the launcher.
#pragma once

#include <string>

#include "host/pe/runtime.hpp"
#include "host/trace/part_file.hpp"

namespace chime::host {

// All PEs come to the end; one that does not is missed as in the last meeting.
bootstrap::Deadline deadline_of_end(const Runtime& runtime);

// At the start: the others will know this PE's clock, and which PE's part its events are in.
void tell_clock(const Runtime& runtime, const trace::PartFile& part);

// By each PE at the start, when all have the same settings, and before its part is closed: on PE 0,
// tells the time to those whose clock is another; on the PE that a part is named after, sets its
// offset. Throws bootstrap::BootstrapError.
enum class Comparison { kAtStart, kAtEnd };
void compare_clocks(const Runtime& runtime, trace::PartFile& part, Comparison which);

// When the part is closed, by the same PE: sends it to PE 0 if they share no disk; PE 0 writes
// those that it gets beside its own. Returns whether this PE has sent its part.
bool carry_parts(const Runtime& runtime, const std::string& path, const trace::PartFile& part);

}  // namespace chime::host
