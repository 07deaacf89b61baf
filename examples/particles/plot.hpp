// The picture of a run: energies and temperature over steps, and g(r) at the end. Drawn by gnuplot.
#pragma once

#include <string>
#include <vector>

#include "pair_distribution.hpp"
#include "thermo.hpp"

namespace particles {

// Throws std::runtime_error that names what is missing if gnuplot cannot be run.
void require_gnuplot();
void draw(const std::string& path, const std::vector<Thermo>& lines, const PairDistribution& pairs);

}  // namespace particles
