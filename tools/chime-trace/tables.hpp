// The tables of chime-trace summary.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "causes.hpp"
#include "timeline.hpp"

using Causes = std::vector<std::optional<Cause>>;

// Time in waits by PE, call and peer, the longest first; at most `rows`.
std::string table_of_waits(const Timeline& timeline, const Causes& causes, std::size_t rows);

// Which PE let which wait: operations that began after the wait for them.
std::string table_of_late_senders(const Timeline& timeline, const Causes& causes, std::size_t rows);

// A step: from one call or launch of this name on each PE to the next.
struct StepChoice {
  std::string name;           // or a part of it; empty: the kernel with the most launches
  std::optional<int> number;  // from 0; none: the one of median length
};

// The chain of work and messages that decided when the step ended; without a name and kernels, what
// to do. Throws BadTimeline if there is no such step.
std::string table_of_critical_path(const Timeline& timeline, const Causes& causes,
                                   const StepChoice& choice);
