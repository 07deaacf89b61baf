// The picture of a run: energies and temperature over time, and g(r) at the end, in Lennard-Jones
// units. Drawn by gnuplot.
#pragma once

#include <string>
#include <vector>

#include "files/pair_distribution.hpp"
#include "system/thermo.hpp"

namespace particles {

struct Picture {
  std::string title;
  std::vector<Thermo> lines;
  double dt = 0;  // from steps to time, in tau
  PairDistribution pairs;
};

// Throws std::runtime_error if it is not drawn. REQUIRES: examples::is_picture(path).
void draw(const std::string& path, const Picture& picture);

}  // namespace particles
