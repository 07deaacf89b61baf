// g(r): how much more often than in an ideal gas two atoms are r apart.
#pragma once

#include <vector>

#include "system/sample.hpp"

namespace particles {

struct PairDistribution {
  double width = 0;  // of a bin; bin k is centred at (k + 1/2) * width
  std::vector<double> g;
};

// Up to min(range, half the shortest side of the box).
PairDistribution pair_distribution(const Sample& sample, double range, double width);

}  // namespace particles
