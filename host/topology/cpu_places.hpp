// Where PEs may be bound to on this machine.
#pragma once

#include <sched.h>

#include <vector>

namespace chime::topology {

enum class PlaceKind { kCore, kNuma };

// The cores or NUMA nodes of this machine, neighbours beside each other, each with those of its
// processors that are `allowed`; none without. A core has all its hardware threads. Without
// libhwloc a core is each processor, and all of them are one NUMA node.
std::vector<cpu_set_t> cpu_places(PlaceKind kind, const cpu_set_t& allowed);

}  // namespace chime::topology
