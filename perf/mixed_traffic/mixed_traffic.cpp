// mixed_traffic: whether a kernel's traffic and a host thread's starve each other, and whether
// every message of both arrives: once, whole and in the promised order.
//
// Each PE sends to the next by the path that the environment gives. Blocks of its kernel flood with
// messages and gets, one probes; a host thread floods by calls and on a stream. The kernel alone,
// the host alone, then both. Readers in the kernel check what comes.
#include <chime/chime.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "judge.hpp"

namespace {

using namespace chime::perf;
using chime::Path;
namespace exec = chime::exec;

struct Options {
  Settings settings;
  int tries = 3;
  bool quick = false;
  std::string path, json;
};

constexpr double kQuick_s = 0.2;

const std::map<std::string, Fault> kFaults = {{"none", Fault::kNone},
                                              {"lose", Fault::kLose},
                                              {"twice", Fault::kTwice},
                                              {"tear", Fault::kTear},
                                              {"early", Fault::kEarly},
                                              {"swap", Fault::kSwap},
                                              {"misread", Fault::kMisread},
                                              {"miscount", Fault::kMiscount},
                                              {"slow-block", Fault::kSlowBlock},
                                              {"slow-kernel", Fault::kSlowKernel},
                                              {"slow-host", Fault::kSlowHost},
                                              {"stall-kernel", Fault::kStallKernel},
                                              {"stall-host", Fault::kStallHost}};

// The results of all PEs at PE 0, and its verdict at all.
class Meeting {
 public:
  // Called by all; complete at PE 0.
  std::vector<Result> gather(const Result& mine) {
    chime_putmem(results_ + chime_my_pe(), &mine, sizeof mine, 0);
    chime_barrier_all();
    std::vector<Result> results(static_cast<std::size_t>(chime_n_pes()));
    must(exec::copy(results.data(), results_, results.size() * sizeof(Result)),
         "no copy to the host");
    return results;
  }
  // Called by all; returns PE 0's.
  std::uint64_t share(std::uint64_t verdict) {
    if (chime_my_pe() == 0)
      for (int pe = 0; pe < chime_n_pes(); ++pe) chime_uint64_p(verdict_, verdict, pe);
    chime_barrier_all();
    return chime_signal_fetch(verdict_);
  }

 private:
  Result* const results_ = symmetric<Result>(static_cast<std::size_t>(chime_n_pes()));
  std::uint64_t* const verdict_ = symmetric<std::uint64_t>(1);
};

enum Verdict : std::uint64_t { kPassed, kTryAgain, kMissed };

// At PE 0: prints one try, and what holds by now.
Verdict report(const Options& options, Path path, int number, const std::vector<Result>& results,
               std::optional<Figures>& best) {
  const unsigned blocks = options.settings.blocks;
  Table table = make_table(options.settings, path, number);
  table.print_header();
  add_rows(table, path, results, blocks);
  print_counts(results, blocks);
  const Figures figures = worst_of(results, options.settings);
  best ? best->take_try(figures) : static_cast<void>(best = figures);
  best->print(!options.quick);
  if (!table.write_json(options.json) || !best->are_right()) return kMissed;
  if (options.quick || best->are_fair()) return kPassed;
  return number < options.tries ? kTryAgain : kMissed;
}

// Called by all.
bool run_tries(const Options& options, Path path) {
  Job job(options.settings);
  Meeting meeting;
  std::optional<Figures> best;
  job.warm_up();
  for (int number = 1;; ++number) {
    const std::vector<Result> results = meeting.gather(job.measure());
    std::uint64_t verdict = kMissed;
    if (chime_my_pe() == 0) verdict = report(options, path, number, results, best);
    verdict = meeting.share(verdict);
    if (verdict != kTryAgain) return verdict == kPassed;
  }
}

// Found before the measurement and not after it: at PE 0, a sentence.
std::string mistake_in(const Options& options, Path path) {
  if (chime_n_pes() < 2) return "mixed_traffic needs at least 2 PEs: chime-run -n 2 mixed_traffic";
  if (!options.path.empty() && options.path != in_words(path))
    return "--path " + options.path + ": PE " + std::to_string(chime_my_pe()) +
           " reaches the next by " + in_words(path) +
           ". CHIME_P2P, CHIME_NIC and CHIME_FABRIC choose; chime-info --paths says why";
  if (chime_my_pe() == 0 && !options.json.empty() && !std::ofstream(options.json, std::ios::app))
    return "cannot write " + options.json;
  return "";
}

Options parse_command_line(int argc, char** argv) {
  Options options;
  Settings& settings = options.settings;
  CLI::App app(
      "Whether traffic of kernels and of the host starve each other, and whether all of it arrives,"
      " by the path that the environment gives");
  app.footer(criteria_in_words());
  app.add_option("--seconds", settings.seconds, "of both; each alone takes half of it")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  app.add_option("--tries", options.tries, "at most")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--blocks", settings.blocks, "that send messages")
      ->check(CLI::Range(2u, kMostBlocks))
      ->capture_default_str();
  app.add_option("--path", options.path, "fails if another one leads to the next PE")
      ->check(CLI::IsMember({"p2p", "nic", "proxy"}));
  std::string faults;
  for (const auto& [name, fault] : kFaults) faults += ' ' + name;
  app.add_option("--fault", settings.fault, "planted, so the program must fail:" + faults)
      ->transform(CLI::CheckedTransformer(kFaults).description("FAULT"));
  app.add_option("--seed", settings.seed, "chooses the message or turn that the fault hits")
      ->capture_default_str();
  app.add_flag("--quick", options.quick, "one try of 0.2 s: shows that all arrives, not how fast");
  app.add_option("--json", options.json, "write the last table to this file as well");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (options.quick) settings.seconds = kQuick_s, settings.rounds = 1, options.tries = 1;
  return options;
}

int run(const Options& options) {
  const Path path = path_to((chime_my_pe() + 1) % chime_n_pes());
  const std::string mistake = mistake_in(options, path);
  if (!mistake.empty()) {
    std::fprintf(stderr, "%s\n", mistake.c_str());
    chime_global_exit(2);
  }
  chime_barrier_all();
  return run_tries(options, path) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_command_line(argc, argv);
  chime_init();
  int status = 1;
  try {
    status = run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "PE %d: %s\n", chime_my_pe(), error.what());
    chime_global_exit(1);
  }
  chime_finalize();
  return status;
}
