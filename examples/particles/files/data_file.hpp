// Reads a LAMMPS data file: atom style atomic, one atom type of mass 1, orthogonal box, with
// velocities.
#pragma once

#include <string>

#include "system/sample.hpp"

namespace particles {

// Throws InputError that names file and line.
Sample read_data_file(const std::string& path);

}  // namespace particles
