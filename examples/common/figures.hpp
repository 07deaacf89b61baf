// What a program has measured: a table with a row for each size, or for each way, and a column for
// each of what stands beside each other. It is printed, written as JSON, and drawn.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace examples {

// A figure that a run does not give: '-' in a table, null in JSON.
inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// Texts have neither quotes nor backslashes.
struct Figures {
  struct Row {
    std::string key;
    std::vector<double> figures;  // one for each column
  };

  std::string program;
  std::string what;                                        // was measured: a line above the table
  std::vector<std::pair<std::string, std::string>> facts;  // for JSON alone: name, JSON's value
  std::string key;                                         // what the rows' keys are
  std::vector<std::string> columns;                        // "device (us)", "puts / device"
  std::vector<Row> rows;
};

// What is to become of them.
struct Output {
  bool json = false;  // a line of JSON in place of the table; perf/plot reads both
  std::string plot;   // file of a picture; empty: none
};

// Throws std::runtime_error if the picture cannot be drawn. Before a run, so that none is in vain.
void require_output(const Output& output);

// The picture has the columns of the first one's unit: curves over keys that are numbers; bars if
// they are words, or one. Throws std::runtime_error if it is not drawn.
void report(const Figures& figures, const Output& output);

}  // namespace examples
