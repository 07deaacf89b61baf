// The options that all benchmarks understand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chime::perf {

struct Options {
  std::string program;  // its name, for messages
  std::size_t min_bytes = 1;
  std::size_t max_bytes = 4 << 20;
  int repeats = 11;
  bool quick = false;
  std::string json;

  // How often to repeat a step that a figure needs `full` times.
  int iterations(int full) const { return quick ? (full + 99) / 100 : full; }
};

// An option of one benchmark, which takes one of some words.
struct Choice {
  std::string name, what;
  std::vector<std::string> words;
  std::string* chosen;  // has the default
};

// Reads the command line into `options`, which have the defaults; ends the program on --help and on
// mistakes. `sized`: the benchmark runs over message sizes.
void parse(Options& options, int argc, char** argv, const std::string& what, bool sized,
           const std::vector<Choice>& choices = {});

}  // namespace chime::perf
