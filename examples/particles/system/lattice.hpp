// A start without a file: a face-centred cubic crystal at density 0.8442. Its velocities are the
// same on every PE.
#pragma once

#include <cstdint>

#include "system/sample.hpp"

namespace particles {

// cells^3 cubic cells of 4 atoms each; temperature 1.44 exactly and no net momentum. Every PE makes
// the same sample from the same seed.
Sample make_lattice(int cells, std::uint64_t seed);

}  // namespace particles
