// The options that all benchmarks understand.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace chime::perf {

struct Options {
  std::size_t min_bytes = 1;
  std::size_t max_bytes = 4 << 20;
  int repeats = 11;
  std::string json;
};

// Reads the command line into `options`, whose values are the defaults; ends the program on --help
// and on mistakes. `sized`: the benchmark runs over message sizes.
inline void parse(Options& options, int argc, char** argv, const std::string& what, bool sized) {
  CLI::App app(what);
  if (sized) {
    app.add_option("--min", options.min_bytes, "smallest message in bytes")->capture_default_str();
    app.add_option("--max", options.max_bytes, "largest message in bytes; sizes double")
        ->capture_default_str();
  }
  app.add_option("--repeats", options.repeats, "each figure is the best of so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", options.json, "write the table to this file as well");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
}

}  // namespace chime::perf
