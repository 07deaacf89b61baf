// A prediction as a table, as sentences about where the paths cross, as JSON, and as a picture.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model.hpp"

namespace chime::predict {

// A prediction beside what was measured, for --check.
struct Comparison {
  std::string path;
  std::size_t bytes;
  double predicted_us, measured_us;
  bool is_calibrated;  // one of the sizes that the prediction was made from

  double error() const { return predicted_us / measured_us - 1; }
};

struct Prediction {
  std::vector<std::string> notes;  // where the figures come from
  std::vector<TransferPath> paths;
  std::vector<std::size_t> sizes;
  std::vector<Comparison> comparisons;
};

std::string table(const Prediction& prediction);
std::vector<std::string> sentences(const Prediction& prediction);
std::string comparison_table(const Prediction& prediction);
nlohmann::ordered_json to_json(const Prediction& prediction);

// The largest |error| of sizes that were not calibrated; 0 if there is none.
double worst_error(const std::vector<Comparison>& comparisons);

// Commands and data for gnuplot: time, bandwidth and processor share against size, into a PNG.
std::string gnuplot_script(const Prediction& prediction, const std::string& png);

// Runs gnuplot. Throws std::runtime_error if it is not there or fails.
void plot(const Prediction& prediction, const std::string& png);

}  // namespace chime::predict
