// init_sim: what the start of a job costs each PE, and what the first touch of a peer costs, up to
// a million PEs: Chime's own state machines over a modelled network (README.md).
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "host/peers/on_demand.hpp"
#include "job.hpp"
#include "memory.hpp"
#include "patterns.hpp"
#include "table.hpp"

namespace {

using namespace chime::perf;

constexpr double kMebi = 1 << 20;
// The promised bounds: memory of an idle PE beyond its heap, and time of the first put to a peer.
constexpr double kMostMebi = 64, kFirstPutBeyondTwoRoundTripsUs = 1000;
// The longest sleep of the thread that answers kernels.
constexpr double kSleepUs =
    std::chrono::duration<double, std::micro>(chime::host::OnDemand::kLongestSleep).count();

// Every PE asks every other: more PEs than this are not sensible here. In eager jobs each PE reads
// the data of each for all: n^3 bytes through one hub.
constexpr int kMostAllToAll = 256, kMostEager = 1024;

struct Options {
  NetworkCosts network;
  JobOptions job;
  int max_pes = 1'000'000, nic_peers = 40, degree = 6;
  bool checks = false;
  std::string json;
};

struct Row {
  bool is_lazy;
  Pattern pattern;
  int n_pes;
  Phase start = {}, call = {};
  double alone_us = 0;
  Touches touches = {};
  double memory = 0, queues = 0;
};

Row simulate(const Options& options, bool is_lazy, Pattern pattern, int n_pes) {
  Row row{.is_lazy = is_lazy, .pattern = pattern, .n_pes = n_pes};
  JobOptions of_job = options.job;
  of_job.n_pes = n_pes;
  of_job.is_lazy = is_lazy;
  Job job(of_job, options.network);
  row.start = job.start();
  row.call = job.collective_call();
  if (is_lazy) row.alone_us = job.touch_alone(n_pes - 1, (n_pes - 1) / 2);
  if (pattern != Pattern::kNone) row.touches = job.touch(peers_by(pattern, n_pes, options.degree));
  const int in_tree = 3;  // the peers of collective calls
  const MemoryShape shape{.n_pes = n_pes,
                          .node_pes = of_job.node_pes,
                          .nic_peers = is_lazy ? std::min(options.nic_peers, n_pes) : n_pes,
                          .peers = in_tree,
                          .is_lazy = is_lazy};
  row.memory = sum(memory_of_pe(shape));
  row.queues = nic_queue_bytes(shape);
  return row;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--max-pes", options.max_pes, "the largest job; from 100 on by powers of ten")
      ->check(CLI::Range(100, 1'000'000))
      ->capture_default_str();
  app.add_option("--node-pes", options.job.node_pes, "PEs of a node")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--latency", options.network.latency_us, "microseconds, one way")
      ->capture_default_str();
  app.add_option("--bandwidth", options.network.bytes_per_us,
                 "of a node's link, bytes per microsecond")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--message", options.network.message_us,
                 "microseconds of a processor for each message, at each end")
      ->capture_default_str();
  app.add_option("--queue-pair", options.job.queue_pair_us,
                 "microseconds until the queue pairs to a peer are connected")
      ->capture_default_str();
  app.add_option("--nic-peers", options.nic_peers, "peers that queue pairs are made for at init")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--degree", options.degree, "peers of a PE where they are random")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", options.json, "write the table to this file as well");
  app.add_flag("--check", options.checks, "fail where a promise is not kept");
}

std::vector<double> figures_of(const Row& row) {
  const bool has_touched = row.touches.count > 0;
  const auto touched = [&](double figure) { return has_touched ? figure : kNotMeasured; };
  return {row.start.seconds,
          row.start.messages,
          row.start.bytes,
          static_cast<double>(row.start.most_messages),
          static_cast<double>(row.start.steps),
          row.start.hub_messages,
          row.call.seconds * 1000,
          row.is_lazy ? row.alone_us : kNotMeasured,
          touched(row.touches.phase.messages),
          touched(row.touches.mean_us / 1000),
          touched(row.touches.worst_us / 1000),
          row.memory / kMebi,
          row.queues / kMebi};
}

Table make_table(const Options& options) {
  const auto number = [](double value) { return std::to_string(static_cast<int>(value)); };
  return Table(
      "start of a job, simulated", "Paths, pattern, PEs           ",
      {"init (s)", "messages/PE", "bytes/PE", "most messages", "steps", "hub messages/PE",
       "first call (ms)", "touch alone (us)", "touch messages/PE", "touch mean (ms)",
       "touch worst (ms)", "memory (MiB)", "NIC queues (MiB)"},
      {"one way " + number(options.network.latency_us) + " us, links of " +
           number(options.network.bytes_per_us) + " bytes/us, " +
           number(options.network.message_us) + " us a message and end, nodes of " +
           number(options.job.node_pes) + " PEs; one hub",
       "messages and bytes: sent and received by a PE, mean; most: by the one that has most; "
       "steps: "
       "messages one after the other",
       "touch alone: one PE's first touch of a peer until it can be written to, all else idle; "
       "others: all touch theirs at once",
       "memory: of an idle PE for its peers, beside heap and NIC queues, which are for " +
           number(options.nic_peers) + " peers, eager for all"});
}

std::string key_of(const Row& row) {
  return std::string(row.is_lazy ? "lazy " : "eager ") + name_of(row.pattern) + " " +
         std::to_string(row.n_pes);
}

void print_memory(const Options& options, int n_pes) {
  const MemoryShape lazy{.n_pes = n_pes,
                         .node_pes = options.job.node_pes,
                         .nic_peers = std::min(options.nic_peers, n_pes),
                         .peers = 3};
  std::printf("# An idle PE of %d, lazy, in KiB:", n_pes);
  for (const MemoryPart& part : memory_of_pe(lazy))
    std::printf(" %s %.0f;", part.what.c_str(), part.bytes / 1024);
  std::printf("\n# Not in it: libfabric's own memory, the kernel's socket buffers, libraries\n");
}

int most_peers_that_fit(const Options& options, int n_pes) {
  MemoryShape shape{.n_pes = n_pes, .node_pes = options.job.node_pes, .peers = 3};
  const auto fits = [&](int peers) {
    shape.nic_peers = peers;
    return (sum(memory_of_pe(shape)) + nic_queue_bytes(shape)) / kMebi <= kMostMebi;
  };
  while (shape.nic_peers < n_pes && fits(shape.nic_peers + 1)) {
  }
  return shape.nic_peers - (shape.nic_peers < n_pes ? 1 : 0);
}

// Both bounds, for the largest lazy job.
bool tell_verdict(const Options& options, const std::vector<Row>& rows) {
  const Row* last = nullptr;
  for (const Row& row : rows)
    if (row.is_lazy && (!last || row.n_pes > last->n_pes)) last = &row;
  if (!last) return false;
  print_memory(options, last->n_pes);
  const double bound = 2 * options.network.round_trip_us() + kFirstPutBeyondTwoRoundTripsUs;
  const double memory = (last->memory + last->queues) / kMebi;
  const bool fits = memory <= kMostMebi, is_soon = last->alone_us <= bound;
  const auto word = [](bool holds) { return holds ? "kept" : "NOT KEPT"; };
  std::printf("# memory of an idle PE: %.1f MiB with the NIC's queues, promised %.0f: %s\n", memory,
              kMostMebi, word(fits));
  std::printf("# that many peers' queues fit into it: %d\n",
              most_peers_that_fit(options, last->n_pes));
  std::printf("# first put to a new peer: %.0f us, promised 2 round trips + 1 ms = %.0f us: %s\n",
              last->alone_us, bound, word(is_soon));
  std::printf("# the same where the thread that kernels ask sleeps for its longest: %.0f us: %s\n",
              last->alone_us + kSleepUs, word(last->alone_us + kSleepUs <= bound));
  return fits && is_soon;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What a job's start and first touches cost each PE, simulated");
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  Table table = make_table(options);
  table.print_header();
  std::vector<Row> rows;
  const auto run = [&](bool is_lazy, Pattern pattern, int n_pes) {
    rows.push_back(simulate(options, is_lazy, pattern, n_pes));
    table.row(key_of(rows.back()), figures_of(rows.back()));
  };
  for (int n_pes = 64; n_pes <= std::min(options.max_pes, kMostEager); n_pes *= 4)
    run(false, Pattern::kNone, n_pes);
  for (int n_pes = 64; n_pes <= std::min(options.max_pes, kMostAllToAll); n_pes *= 2)
    run(true, Pattern::kAllToAll, n_pes);
  for (const Pattern pattern : {Pattern::kRandom, Pattern::kHalo})
    for (int n_pes = 100; n_pes <= options.max_pes; n_pes *= 10) run(true, pattern, n_pes);
  const bool keeps = tell_verdict(options, rows);
  const bool is_written = table.write_json(options.json);
  return is_written && (keeps || !options.checks) ? 0 : 1;
}
