// Finds atoms that lie on each other, before the run: their force would not be a number, or would
// blow the system apart.
#pragma once

#include "system/sample.hpp"

namespace particles {

// In sigma. At this distance a pair has 16 000 epsilon of energy, and one step of 0.005 tau moves
// each atom by five sigma; in a liquid at temperature 1 pairs come no nearer than about 0.85.
inline constexpr double kNearest = 0.5;

// Throws InputError that names `file`, two atoms and their distance if any two are nearer than
// kNearest. Takes about a microsecond for each atom, for any positions.
void require_apart(const Sample& sample, const std::string& file);

}  // namespace particles
