// Where the processors and PCI devices of this machine are, as hwloc finds them.
#pragma once

#include <sched.h>

#include <map>
#include <string>
#include <vector>

#include "host/topology/place.hpp"

namespace chime::topology {

struct Machine {
  // A part that has processors: the machine, a package, and its parts down to a core.
  struct Part {
    cpu_set_t processors;
    Place place;  // the part itself is the last
  };
  std::vector<Part> parts;               // each before what it is made of
  std::map<std::string, Place> devices;  // by PCI address ("0000:81:00.0") and by name ("mlx5_0")
  std::string why_no_devices;            // then; else empty
};

// The machine as hwloc finds it. Takes some ten milliseconds on a large machine.
Machine look_at_machine();

// The same, looked at once and kept for as long as the process lives.
const Machine& this_machine();

// The smallest part that has all of `processors`; not known if there is none.
Place place_of(const cpu_set_t& processors, const Machine& machine);

// Not known if the machine does not list it.
Place place_of(const std::string& device, const Machine& machine);

// Where the calling thread may run; none if the system does not say.
cpu_set_t processors_of_this_thread();

}  // namespace chime::topology
