// The report for the user, and the contents of --json.
#pragma once

#include <string>
#include <vector>

#include "run/simulation.hpp"
#include "system/options.hpp"
#include "system/thermo.hpp"
#include "system/validate.hpp"

namespace particles {

struct Results {
  std::size_t atoms = 0;
  int pes = 0;
  Grid grid{};
  Box box;
  std::vector<Thermo> thermo;
  std::vector<Comparison> comparisons;
  Costs costs;
  double largest_momentum = 0;  // of the whole system, any component, at any output
};

// The subject of a run's picture, in one line.
std::string title(const Options& options, const Results& results);

std::string opening(const Options& options, const Results& results);
std::string comparison_line(const Comparison& comparison);
std::string closing(const Options& options, const Results& results);

// True if every comparison is within the tolerances.
bool agrees(const Options& options, const std::vector<Comparison>& comparisons);

void write_json(const Options& options, const Results& results);

}  // namespace particles
