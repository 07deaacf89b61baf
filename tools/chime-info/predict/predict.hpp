// chime-info --predict: what a transfer costs by each path, from figures measured here or stated.
#pragma once

#include <string>
#include <vector>

#include "devices.hpp"

namespace chime::predict {

struct Options {
  std::string size_range = "8:4M";
  std::string gpu, nic, links;  // any of them: stated figures, nothing is measured
  std::string staging_chunk;    // a size; empty: the staged path is not pipelined
  std::string plot;             // a PNG; empty: none
  bool as_json = false;
  bool checks = false;  // measure every size and compare
  bool lists = false;   // the devices that have names
  int repeats = 200;    // of each loop that measures
};

// Prints the prediction. Returns main's exit code: 0; 1 if a measurement, the picture or the check
// (worse than kAcceptedError) failed; 2 if an option cannot be taken.
int run(const Options& options);

inline constexpr double kAcceptedError = 0.2;

}  // namespace chime::predict
