// chime-trace: timelines of jobs (CHIME_TRACE, chime-run --trace).
//
// Exit codes: 0; 2: the command line is wrong, or a file could not be read or written, is no
// timeline, or has no such step.

#include <cstdio>
#include <exception>
#include <iostream>

#include "causes.hpp"
#include "host/trace/merge/merge.hpp"
#include "host/trace/paths.hpp"
#include "tables.hpp"
#include "timeline.hpp"
#include "tools/options.hpp"

namespace {

struct Options {
  std::string file;
  std::size_t rows = 20;
  StepChoice step;
};

void merge(const Options& options) {
  const std::string path = chime::trace::numbered(options.file, 1);
  if (!chime::trace::has_parts(path))
    throw std::runtime_error("there are no parts of a timeline in " +
                             chime::trace::folder_of_parts(path));
  std::cout << chime::trace::merge(path) << '\n';
}

void summarize(const Options& options) {
  const Timeline timeline = read_timeline(options.file);
  const Causes causes = find_causes(timeline);
  std::cout << options.file << ": " << timeline.pes << " PEs, " << timeline.spans.size()
            << " events";
  if (timeline.dropped != 0) std::cout << ", and " << timeline.dropped << " without room";
  std::cout << "\n\n"
            << table_of_waits(timeline, causes, options.rows) << '\n'
            << table_of_late_senders(timeline, causes, options.rows) << '\n'
            << table_of_critical_path(timeline, causes, options.step);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Timelines of jobs (CHIME_TRACE=run.json, chime-run --trace run.json)."};
  app.require_subcommand(1);
  Options options;
  auto* join = app.add_subcommand(
      "merge", "Writes run.json from run.json.parts, where a job without chime-run was killed");
  join->add_option("file", options.file, "run.json")->required();
  auto* sum = app.add_subcommand(
      "summary", "Time in waits by peer and call, late senders, the critical path of a step");
  sum->add_option("file", options.file, "run.json")->required();
  sum->add_option("--rows", options.rows, "Rows of a table (20)");
  sum->add_option("--step", options.step.name,
                  "The kernel or call, or a part of its name, that begins a step on each PE; else "
                  "the kernel with the most launches");
  sum->add_option("--number", options.step.number, "Which step, from 0; else that of median length")
      ->check(CLI::Range(0, 1'000'000'000));
  if (const auto code = chime::tools::exit_code_after_parsing("chime-trace", app, argc, argv))
    return *code;
  try {
    *join ? merge(options) : summarize(options);
    return chime::tools::exit_code_after_printing("chime-trace", 0);
  } catch (const std::exception& error) {
    std::cerr << "chime-trace: " << error.what() << '\n';
    return chime::tools::kCannot;
  }
}
