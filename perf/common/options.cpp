#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace chime::perf {

void parse(Options& options, int argc, char** argv, const std::string& what, bool sized,
           const std::vector<Choice>& choices) {
  CLI::App app(what);
  options.program = std::filesystem::path(argv[0]).filename();
  if (sized) {
    app.add_option("--min", options.min_bytes, "smallest message in bytes")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--max", options.max_bytes, "largest message in bytes; sizes double")
        ->capture_default_str();
  }
  app.add_option("--repeats", options.repeats, "each figure is the best of so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--quick", options.quick,
               "a hundredth of the iterations: shows that it runs, not how fast");
  app.add_option("--json", options.json, "write the table to this file as well");
  for (const Choice& choice : choices) {
    app.add_option(choice.name, *choice.chosen, choice.what)
        ->check(CLI::IsMember(choice.words))
        ->capture_default_str();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (sized && options.min_bytes > options.max_bytes) {
    std::fprintf(stderr, "%s: --min %zu is more than --max %zu: nothing would be measured\n",
                 options.program.c_str(), options.min_bytes, options.max_bytes);
    std::exit(2);
  }
  // Found before the measurement and not after it.
  if (!options.json.empty() && !std::ofstream(options.json, std::ios::app)) {
    std::fprintf(stderr, "cannot write %s\n", options.json.c_str());
    std::exit(2);
  }
}

}  // namespace chime::perf
