// fifos_in_time: the gain of more FIFOs if each block waits for its own gets, by a clock of the
// program's own (timed_job.hpp). proxy_fifos measures the same on this machine, where the blocks
// take processors from the proxy.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <random>

#include "table.hpp"
#include "timed_job.hpp"

namespace {

using namespace chime::perf;

constexpr std::uint64_t kFor = 20'000'000;  // ns
constexpr std::size_t kAnyRoom = std::numeric_limits<std::size_t>::max();

struct Options {
  TimedCosts costs;
  std::uint64_t late = 30'000;
  unsigned blocks = 8;
  bool checks = false;
  std::string json;
};

Lateness all_late(const Options& options) {
  return [late = options.late](std::uint64_t, int) { return late; };
}
// The gets of block 0; all others end at once.
Lateness one_late(const Options& options) {
  return [late = options.late](std::uint64_t, int pe) { return pe == 0 ? late : 0; };
}
// One get in eight, of any block: seeded, so the same in each run.
Lateness some_late(const Options& options) {
  return [late = options.late, random = std::mt19937(7)](std::uint64_t, int) mutable {
    return random() % 8 == 0 ? late : std::uint64_t{0};
  };
}

struct Rates {
  double one_at_a_time, all, one, some;
};

Rates rates_with(unsigned fifos, const Options& options) {
  const auto rate = [&](const Lateness& late, std::size_t room) {
    return gets_per_ms(fifos, options.blocks, options.costs, late, room, kFor);
  };
  return {rate(all_late(options), 1), rate(all_late(options), kAnyRoom),
          rate(one_late(options), kAnyRoom), rate(some_late(options), kAnyRoom)};
}

constexpr double kMostGain = 3;
constexpr double kLeastShare = 0.9;  // of what eight FIFOs carry, by one

bool holds(const char* what, double figure, double least) {
  if (figure >= least) return true;
  std::printf("FAILED: %s: %.2f, and at least %.2f is promised\n", what, figure, least);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What more FIFOs give where blocks wait for their gets, by a clock of its own");
  app.add_option("--late", options.late, "ns, of a late get")->capture_default_str();
  app.add_option("--blocks", options.blocks, "that get")
      ->check(CLI::Range(2, 32))
      ->capture_default_str();
  app.add_option("--block", options.costs.block, "ns, from an end to the block's next request")
      ->capture_default_str();
  app.add_option("--look", options.costs.look, "ns, at all FIFOs and the fabric")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--request", options.costs.request, "ns, to carry one")->capture_default_str();
  app.add_flag("--check", options.checks, "fails where less is gained than promised");
  app.add_option("--json", options.json, "write the table to this file as well");
  CLI11_PARSE(app, argc, argv);
  Table table("gets that blocks wait for, by the proxy's FIFOs, by a clock of its own", "FIFOs",
              {"one by one (/ms)", "all late (/ms)", "ratio", "one late (/ms)", "ratio ",
               "some late (/ms)", "ratio  "},
              {std::to_string(options.blocks) + " blocks, each waits for its get; late by " +
                   std::to_string(options.late) + " ns; a block's next request comes " +
                   std::to_string(options.costs.block) + " ns behind its end, a look takes " +
                   std::to_string(options.costs.look) + " ns and a request " +
                   std::to_string(options.costs.request),
               "one by one: all are late, and the fabric has room for one. one late: those of one "
               "block. some late: one in eight. ratio: to one FIFO"});
  table.print_header();
  const Rates base = rates_with(1, options);
  Rates last{};
  for (const unsigned fifos : {1u, 2u, 4u, 8u}) {
    last = rates_with(fifos, options);
    table.row(std::size_t{fifos}, {last.one_at_a_time, last.all, last.all / base.all, last.one,
                                   last.one / base.one, last.some, last.some / base.some});
  }
  const bool written = table.write_json(options.json);
  if (!options.checks) return written ? 0 : 1;
  const bool well =
      holds("one FIFO beside one request at a time", base.all / base.one_at_a_time, kMostGain) &
      holds("one FIFO beside 8 where one block's gets are late", base.one / last.one, kLeastShare) &
      holds("one FIFO beside 8 where some gets are late", base.some / last.some, kLeastShare);
  return written && well ? 0 : 1;
}
