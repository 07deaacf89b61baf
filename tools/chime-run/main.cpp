// chime-run -n N [options] program [arguments]: starts N PEs, on this machine or on several hosts,
// and stays until they have ended.
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "bootstrap/bootstrap.hpp"
#include "crews/agent.hpp"
#include "crews/agent_command.hpp"
#include "environment.hpp"
#include "host_list.hpp"
#include "job.hpp"
#include "options.hpp"
#include "processes/guardian.hpp"
#include "timeline.hpp"

namespace {

using chime::run::Options;

constexpr double kLongestSeconds = 1e9;  // thirty years: what every clock can add to now

// A number of seconds. CLI11's own ranges let "nan" pass and print bounds of 300 digits.
CLI::Validator seconds(const char* least, bool zero_is_allowed) {
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value);
        const bool is_in_range = zero_is_allowed ? value >= 0 : value > 0;
        if (is_number && is_in_range && value <= kLongestSeconds) return {};
        return "'" + text + "' is not a number of seconds from " + least + " to 1e9";
      },
      "SECONDS");
}

// As the user wrote it.
struct Words {
  bool has_no_prefix = false;
  std::string binding = "none";
  std::string hosts, agent_command, timeline;
};

void describe(CLI::App& app, Options& options, Words& words) {
  app.add_option("-n,--np", options.n_pes, "number of PEs; also -np")->check(CLI::Range(1, 4096));
  app.add_flag("--keep-going", options.keeps_going, "when a PE fails, let the others go on");
  app.add_option("--timeout", options.time_limit_s,
                 "end the job after so many seconds (exit code 124)")
      ->check(seconds("more than 0", false));
  app.add_option("--grace", options.grace_s,
                 "seconds between asking PEs to end (SIGTERM) and SIGKILL")
      ->check(seconds("0", true))
      ->capture_default_str();
  app.add_flag("--no-prefix", words.has_no_prefix,
               "PEs write to this terminal directly, without [PE] before lines");
  app.add_option("--bind", words.binding,
                 "core, numa: give each PE one core or NUMA node, in turn; none")
      ->check(CLI::IsMember({"none", "core", "numa"}))
      ->capture_default_str();
  app.add_option("--hosts", words.hosts,
                 "a,b[:slots],...: PEs fill these hosts in order; without slots in equal shares");
  app.add_option("--agent-command", words.agent_command,
                 "what starts an agent: words that get a host and a command of its shell "
                 "(default: CHIME_RUN_AGENT, or ssh)");
  app.add_option("--trace", words.timeline,
                 "file for a timeline of all PEs, as JSON for ui.perfetto.dev (CHIME_TRACE); "
                 "chime-trace summary reads it");
  app.add_option("-x", options.variables,
                 "NAME or NAME=value: a variable for the PEs, beside CHIME_*, PATH and "
                 "LD_LIBRARY_PATH, which all hosts get")
      ->allow_extra_args(false);
  app.prefix_command();  // the first word that is no option of ours begins the program and its
                         // arguments
  app.footer(
      "PE 0 reads standard input, the others /dev/null. The exit code is that of the first PE\n"
      "that failed (128 + signal for one that was killed), 124 after the time limit, 127 when\n"
      "the program is not found. However it ends, no process of the job is left.\n"
      "Before PEs are ended by the time limit, SIGINT (Ctrl-C), SIGTERM or SIGQUIT, each says\n"
      "what it is doing; a second signal does not wait for that. SIGUSR1 lets them say it and\n"
      "go on.\n"
      "On each of --hosts runs 'chime-run --agent', which gets the job's secret, the command and\n"
      "this folder's name over its standard input.");
}

// The next argument after `word` is its value.
bool takes_the_next(const CLI::App& app, const std::string& word) {
  const CLI::Option* const option = app.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_min() > 0;
}

// The arguments, last first as CLI11 wants them. "-np 2", as with mpirun, is "--np 2" here: to
// CLI11, as to getopt, it is -n with the value "p". The program's own arguments are not changed.
std::vector<std::string> arguments_reversed(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size() && words[i].starts_with('-') && words[i] != "--"; ++i) {
    if (words[i] == "-np" || words[i].starts_with("-np=")) words[i].insert(0, "-");
    if (takes_the_next(app, words[i])) ++i;
  }
  return {words.rbegin(), words.rend()};
}

// Empty, after a message, if `rest` holds no program.
std::vector<std::string> command_in(std::vector<std::string> rest) {
  const bool is_marked = !rest.empty() && rest[0] == "--";
  if (is_marked) rest.erase(rest.begin());
  if (rest.empty()) {
    std::fputs("chime-run: which program? Usage: chime-run -n N [options] program [arguments]\n",
               stderr);
  } else if (!is_marked && rest[0].starts_with("-")) {
    const bool names_hosts =
        rest[0].starts_with("--host") || rest[0].starts_with("-host") || rest[0].starts_with("-H");
    std::fprintf(stderr, "chime-run: no such option: %s (%s)\n", rest[0].c_str(),
                 names_hosts ? "hosts are named by --hosts a,b[:slots]" : "see chime-run --help");
    rest.clear();
  }
  return rest;
}

// Fewer descriptors would show as a PE that cannot be started, or as one that nobody answers.
bool has_descriptors_for(const Options& options) {
  constexpr rlim_t kOwn = 16;
  // The report of its exec, its connection to the hub; stdout and stderr.
  const rlim_t of_each_pe = !options.hosts.empty() ? 1 : options.has_prefix ? 4 : 2;
  constexpr rlim_t kOfEachAgent = 4;
  const rlim_t needed =
      kOwn + of_each_pe * static_cast<rlim_t>(options.n_pes) + kOfEachAgent * options.hosts.size();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed) return true;
  std::fprintf(stderr,
               "chime-run: %d PEs need %llu open files and the limit is %llu; raise it: ulimit -n "
               "%llu\n",
               options.n_pes, static_cast<unsigned long long>(needed),
               static_cast<unsigned long long>(limit.rlim_cur),
               static_cast<unsigned long long>(needed));
  return false;
}

// Throws std::invalid_argument.
void set_hosts(Options& options, const Words& words, const char* own_name) {
  options.variables = chime::run::with_values(options.variables);
  if (!words.timeline.empty()) options.variables.push_back("CHIME_TRACE=" + words.timeline);
  options.timeline = chime::run::take_timeline(options.variables);
  if (words.hosts.empty()) return;
  const auto hosts = chime::run::hosts_in(words.hosts);
  const auto shares = chime::run::shares_of(hosts, options.n_pes);
  const auto starts_agent = chime::run::agent_command(words.agent_command, own_name);
  for (std::size_t i = 0; i < hosts.size(); i++)
    if (shares[i] > 0)
      options.hosts.push_back({hosts[i].name, shares[i], starts_agent(hosts[i].name)});
  auto variables = chime::run::variables_for_other_hosts();
  variables.insert(variables.end(), options.variables.begin(), options.variables.end());
  options.variables = std::move(variables);
  if (const char* interface = std::getenv("CHIME_BOOTSTRAP_IF")) options.interface = interface;
  const char* const limit = std::getenv("CHIME_INIT_TIMEOUT");
  if (limit && std::atof(limit) > 0) options.start_limit_s = std::atof(limit);
}

// Runs `work` in the process that the guardian makes.
template <class Work>
int run_work(const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chime-run: %s\n", error.what());
    return chime::run::kExitCannotRun;
  }
}

int run_job(const Options& options) {
  if (!options.timeline.empty()) chime::run::prepare_timeline(options.timeline);
  int exit_code = 0;
  std::map<int, std::uint64_t> ends;
  {
    chime::run::Job job(options);
    exit_code = job.run();
    ends = job.ends_of_pes();
  }
  if (!options.timeline.empty()) chime::run::finish_timeline(options.timeline, ends);
  return exit_code;
}

int run_agent() {
  if (isatty(STDIN_FILENO)) {
    std::fputs("chime-run: --agent is for chime-run --hosts, which starts it on other hosts\n",
               stderr);
    return chime::run::kExitUsage;
  }
  return chime::run::run_guarded([] { return run_work([] { return chime::run::Agent().run(); }); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--agent") return run_agent();
  CLI::App app(
      "chime-run -n N [options] program [arguments]\n"
      "Starts the PEs of a Chime job, on this machine or on several hosts, without another\n"
      "launcher.",
      "chime-run");
  Options options;
  Words words;
  describe(app, options, words);
  try {
    app.parse(arguments_reversed(app, argc, argv));
  } catch (const CLI::ParseError& e) {
    return app.exit(e) ? chime::run::kExitUsage : 0;
  }
  options.command = command_in(app.remaining());
  if (options.command.empty()) return chime::run::kExitUsage;
  if (app.count("--np") == 0) {
    std::fputs("chime-run: how many PEs? -n N comes before the program\n", stderr);
    return chime::run::kExitUsage;
  }
  options.has_prefix = !words.has_no_prefix;
  if (words.binding == "core") options.binding = chime::topology::PlaceKind::kCore;
  if (words.binding == "numa") options.binding = chime::topology::PlaceKind::kNuma;
  try {
    set_hosts(options, words, argv[0]);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "chime-run: %s\n", error.what());
    return chime::run::kExitUsage;
  }
  if (!has_descriptors_for(options)) return chime::run::kExitCannotRun;
  return chime::run::run_guarded([&] { return run_work([&] { return run_job(options); }); });
}
