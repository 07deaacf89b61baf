// Curves over the number of PEs, both axes logarithmic, as an SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace chime::perf {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // PEs, figure; figures of 0 are left out
};
struct Panel {
  std::string title;  // with the unit
  std::vector<Curve> curves;
  double bound = 0;  // a line across, unless 0
};

// False, with a message, if the file cannot be written.
bool write_plot(const std::string& path, const std::vector<Panel>& panels);

}  // namespace chime::perf
