// From sums over atoms to temperature, energy and pressure; and the lines that show them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/sample.hpp"

namespace particles {

// The sums of one step, over all atoms. Energies and the virial are per system.
struct Totals {
  std::int64_t step = 0;
  double kinetic2 = 0;  // sum of v^2
  double potential = 0;
  double virial = 0;  // sum over pairs of r * f
  Vec3 momentum{};
  double atoms = 0;
};

// One thermo line, per atom as LAMMPS prints with `thermo_modify norm yes`. Degrees of freedom: 3N
// - 3.
struct Thermo {
  std::int64_t step = 0;
  double temperature = 0;
  double pair_energy = 0;
  double total_energy = 0;
  double pressure = 0;
};

bool is_finite(const Totals& totals);

Thermo thermo_of(const Totals& totals, const Box& box);

std::string thermo_header(int digits);
std::string thermo_line(const Thermo& thermo, int digits);

}  // namespace particles
