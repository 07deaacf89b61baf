// chime-info: version, build, devices, launcher, limits, and the environment variables that are
// set; with --variables every one, with its default, its current value and a sentence; with --proxy
// what the proxies of running PEs have done; with --doctor what is wrong with this machine; with
// --predict what a transfer costs by each path; with --collectives which algorithms they take. Exit
// code 1 if a variable has a value that Chime refuses, there is no proxy, something is wrong, or a
// prediction fails its check; 2 if the command line is wrong or the output cannot be written.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "collectives.hpp"
#include "facts.hpp"
#include "paths.hpp"
#include "predict/measure.hpp"
#include "predict/predict.hpp"
#include "proxies.hpp"
#include "tools/chime-doctor/doctor.hpp"
#include "tools/options.hpp"

namespace {

using chime::info::Fact;
using chime::info::Facts;
using chime::info::VariableFact;

constexpr std::size_t kWidth = 100;

// `text` in lines of at most kWidth columns, each after `indent` spaces.
void print_wrapped(std::string_view text, std::size_t indent) {
  while (!text.empty()) {
    std::size_t room = kWidth - indent;
    std::size_t end = text.size() <= room ? text.size() : text.rfind(' ', room);
    if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    fmt::print("{:{}}{}\n", "", indent, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void print_facts(const char* title, const std::vector<Fact>& facts) {
  fmt::print("{}\n", title);
  std::size_t width = 0;
  for (const Fact& fact : facts) width = std::max(width, fact.name.size());
  for (const Fact& fact : facts) fmt::print("  {:<{}}  {}\n", fact.name, width, fact.text);
  fmt::print("\n");
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print("\nWarning: {}\n", warning);
}

void print_variable(const VariableFact& variable) {
  std::string now = variable.current.empty() ? "" : fmt::format(", now {}", variable.current);
  std::string fallback = variable.fallback.empty() ? "unset" : variable.fallback;
  fmt::print("  {}  ({}; default {}{})\n", variable.name, variable.values, fallback, now);
  print_wrapped(variable.sentence, 6);
  if (!variable.problem.empty()) print_wrapped("REFUSED: " + variable.problem, 6);
}

void print_variables(const Facts& facts) {
  fmt::print("Environment variables\n");
  for (const VariableFact& variable : facts.variables) print_variable(variable);
  print_warnings(facts.warnings);
}

void print_set_variables(const std::vector<VariableFact>& variables) {
  fmt::print("Environment variables that are set (all of them: chime-info --variables)\n");
  const auto is_unset = [](const VariableFact& variable) { return variable.current.empty(); };
  if (std::all_of(variables.begin(), variables.end(), is_unset)) fmt::print("  none\n");
  for (const VariableFact& variable : variables)
    if (!is_unset(variable)) print_variable(variable);
}

void print_text(const Facts& facts) {
  print_facts("Chime", facts.build);
  fmt::print("Devices\n");
  for (const std::string& device : facts.devices) fmt::print("  {}\n", device);
  fmt::print("\n");
  print_facts("Job", facts.job);
  print_facts("Limits", facts.limits);
  print_set_variables(facts.variables);
  print_warnings(facts.warnings);
}

nlohmann::ordered_json to_json(const std::vector<Fact>& facts) {
  auto object = nlohmann::ordered_json::object();
  for (const Fact& fact : facts) object[fact.name] = fact.text;
  return object;
}

nlohmann::ordered_json to_json(const VariableFact& variable) {
  nlohmann::ordered_json object{{"name", variable.name},
                                {"values", variable.values},
                                {"default", variable.fallback},
                                {"current", nullptr},
                                {"sentence", variable.sentence}};
  if (!variable.current.empty()) object["current"] = variable.current;
  if (!variable.problem.empty()) object["problem"] = variable.problem;
  return object;
}

void print_json(const Facts& facts) {
  nlohmann::ordered_json object{{"chime", to_json(facts.build)},
                                {"devices", facts.devices},
                                {"job", to_json(facts.job)},
                                {"limits", to_json(facts.limits)},
                                {"variables", nlohmann::ordered_json::array()},
                                {"warnings", facts.warnings}};
  for (const VariableFact& variable : facts.variables)
    object["variables"].push_back(to_json(variable));
  fmt::print("{}\n", object.dump(2));
}

struct Options {
  bool as_json = false, all_variables = false, paths = false, doctor = false;
  std::optional<pid_t> process;
  std::optional<int> pes_of_team;
  chime::predict::Options prediction;
  std::vector<std::size_t> measured;
  CLI::Option *proxy = nullptr, *collectives = nullptr, *predict = nullptr;
};

// --predict and what belongs to it; `measured` is for the PEs that it starts.
CLI::Option* add_predictor(CLI::App& app, chime::predict::Options& options,
                           std::vector<std::size_t>& measured) {
  static bool predicts = false;
  const auto predict =
      app.add_flag("--predict", predicts,
                   "time, bandwidth and processor share of a transfer by its size and "
                   "path, from three sizes measured here or stated figures");
  const auto add = [&](const char* name, std::string& value, const char* type, const char* what) {
    app.add_option(name, value, what)->type_name(type)->needs(predict);
  };
  add("--gpu", options.gpu, "NAME", "predict from stated figures of this GPU (default H100)");
  add("--nic", options.nic, "NAME", "and of this NIC (default cx7)");
  add("--links", options.links, "NAME,...", "instead of the devices' own links");
  add("--staging-chunk", options.staging_chunk, "SIZE",
      "pipeline the staged path in chunks (default: not pipelined)");
  add("--size-range", options.size_range, "FROM:TO", "sizes, doubling (default 8:4M)");
  add("--plot", options.plot, "FILE.png", "draw it, by gnuplot");
  app.add_flag("--devices", options.lists, "the names that are known, their figures and sources")
      ->needs(predict);
  app.add_flag("--check", options.checks,
               "measure all sizes, too, and compare; exit code 1 if one is 20 % off")
      ->needs(predict);
  app.add_option("--repeats", options.repeats,
                 "how many loops to measure of each size; the figures are those of the quickest")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--measure", measured,
                 "under chime-run -n 2: print the times of puts of these sizes by the job's path")
      ->type_name("BYTES,...")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  return predict;
}

void describe(CLI::App& app, Options& options) {
  app.add_flag("--json", options.as_json, "one JSON object instead of text");
  app.add_flag("--variables", options.all_variables,
               "every environment variable, with what it may be, its default and what it does");
  app.add_flag("--paths", options.paths,
               "under a launcher: which path puts and atomics of each PE to each PE take, and why");
  options.proxy = app.add_option("--proxy", options.process,
                                 "what the proxy threads of this machine's PEs have done so far, "
                                 "or those of one process")
                      ->type_name("[PROCESS]")
                      ->expected(0, 1);
  app.add_flag("--doctor", options.doctor,
               "what is wrong with this machine, as chime-doctor says it");
  options.collectives = app.add_option("--collectives", options.pes_of_team,
                                       "which algorithms collectives take in a team of so many "
                                       "PEs (default 8), by their bytes")
                            ->type_name("[PES]")
                            ->expected(0, 1)
                            ->check(CLI::Range(1, 1 << 20));
  options.predict = add_predictor(app, options.prediction, options.measured);
  app.set_version_flag("--version", "chime-info " CHIME_VERSION_TEXT);
}

int print_asked(Options& options) {
  if (options.doctor) chime::doctor::diagnose_and_exit({.as_json = options.as_json});
  if (*options.proxy) return chime::info::print_proxies(options.process);
  if (!options.measured.empty())
    return chime::predict::measure_and_print(options.measured, options.prediction.repeats);
  if (*options.predict) {
    options.prediction.as_json = options.as_json;
    return chime::predict::run(options.prediction);
  }
  if (*options.collectives)
    return chime::info::print_collectives(options.pes_of_team.value_or(8), options.as_json);
  if (options.paths) return chime::info::print_paths();
  const Facts facts = chime::info::gather_facts();
  if (options.as_json)
    print_json(facts);
  else
    options.all_variables ? print_variables(facts) : print_text(facts);
  return std::any_of(facts.variables.begin(), facts.variables.end(),
                     [](const VariableFact& variable) { return !variable.problem.empty(); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Says what this build of Chime is and what it finds on this machine.", "chime-info");
  Options options;
  describe(app, options);
  if (const auto code = chime::tools::exit_code_after_parsing("chime-info", app, argc, argv))
    return *code;
  try {
    const int exit_code = print_asked(options);
    return chime::tools::exit_code_after_printing("chime-info", exit_code);
  } catch (const std::exception& error) {  // fmt's: a full disk
    std::fprintf(stderr, "chime-info: %s\n", error.what());
    return chime::tools::kCannot;
  }
}
