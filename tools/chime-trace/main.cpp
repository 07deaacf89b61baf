// chime-trace: timelines of jobs (CHIME_TRACE, chime-run --trace).
//
// Exit codes: 0; 2: a file could not be read or written, or is no timeline.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>

#include "host/trace/merge/merge.hpp"
#include "host/trace/paths.hpp"

namespace {

struct Options {
  std::string file;
};

void merge(const Options& options) {
  const std::string path = chime::trace::numbered(options.file, 1);
  if (!chime::trace::has_parts(path))
    throw std::runtime_error("there are no parts of a timeline in " +
                             chime::trace::folder_of_parts(path));
  std::cout << chime::trace::merge(path) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Timelines of jobs (CHIME_TRACE=run.json, chime-run --trace run.json)."};
  app.require_subcommand(1);
  Options options;
  auto* join = app.add_subcommand(
      "merge", "Writes run.json from run.json.parts, where a job without chime-run was killed");
  join->add_option("file", options.file, "run.json")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    merge(options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "chime-trace: " << error.what() << '\n';
    return 2;
  }
}
