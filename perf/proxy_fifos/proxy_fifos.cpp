// proxy_fifos: the gain of more FIFOs if each block waits for its own gets and the fabric is late:
// always, or to one peer alone.
#include <chime/chime.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "late_fabric.hpp"
#include "median.hpp"
#include "proxy_job.hpp"
#include "table.hpp"

namespace {

using namespace chime::perf;
using namespace chime;
using std::chrono::microseconds;

constexpr int kPes = 3;  // this PE, one that is fast if any is, one that is late
constexpr int kFast = 1, kLate = 2;
constexpr std::size_t kHeapBytes = 1 << 20;

struct Options {
  int delay_us = 30, blocks = 8, repeats = 11;
  bool quick = false;
  std::string json;
};

// Block 0 gets from the late peer, the others from the fast one. A get returns when it has ended.
CHIME_KERNEL void get_and_wait(Context ctx, std::uint64_t* dst, const std::uint64_t* src, int us,
                               std::uint64_t* ended) {
  const unsigned block = exec::block_idx().x;
  const int pe = block == 0 ? kLate : kFast;
  const std::uint64_t until = exec::clock_ns() + static_cast<std::uint64_t>(us) * 1000;
  std::uint64_t count = 0;
  while (exec::clock_ns() < until) {
    getmem(ctx, Thread{}, dst + block, src + block, sizeof *dst, pe);
    ++count;
  }
  ended[block] = count;
}

ProxyOptions options_with(unsigned fifos) {
  ProxyOptions options;
  options.fifos = fifos;
  return options;
}

// Gets per microsecond, of all blocks together, in `us` microseconds.
double rate(unsigned fifos, microseconds to_fast, microseconds to_late, unsigned blocks, int us) {
  ProxyJob job(std::make_unique<LateFabric>(std::vector{microseconds(0), to_fast, to_late}), kPes,
               kHeapBytes, options_with(fifos));
  std::vector<std::uint64_t> ended(blocks);
  const exec::LaunchConfig config{.grid = exec::dim3(blocks), .block = exec::dim3(1)};
  if (exec::launch(config, get_and_wait, job.context(host::ContextOwner::kKernels),
                   job.words() + 4096, static_cast<const std::uint64_t*>(job.words()), us,
                   ended.data()) != CHIMEX_OK ||
      exec::stream_synchronize(nullptr) != CHIMEX_OK) {
    std::fprintf(stderr, "a kernel could not run: %s\n", exec::last_error());
    std::exit(1);
  }
  std::uint64_t all = 0;
  for (const std::uint64_t of_block : ended) all += of_block;
  return static_cast<double>(all) / us;
}

// Gets per millisecond with one FIFO and with `fifos`, in turns, and the median of the turns'
// ratios.
std::vector<double> compare(const Options& options, unsigned fifos, microseconds to_fast,
                            microseconds to_late) {
  const int us = options.quick ? 5'000 : 100'000;
  const auto blocks = static_cast<unsigned>(options.blocks);
  std::vector<double> one, many, ratios;
  for (int turn = 0; turn < options.repeats; ++turn) {
    one.push_back(1000 * rate(1, to_fast, to_late, blocks, us));
    many.push_back(1000 * rate(fifos, to_fast, to_late, blocks, us));
    ratios.push_back(many.back() / one.back());
  }
  return {median(one), median(many), median(ratios)};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What more FIFOs give where blocks wait for their gets and the fabric is late");
  app.add_option("--delay", options.delay_us, "microseconds")->capture_default_str();
  app.add_option("--blocks", options.blocks, "that get, of one thread each")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "turns; figures are medians")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--quick", options.quick, "shows that it runs, not how fast");
  app.add_option("--json", options.json, "write the table to this file as well");
  CLI11_PARSE(app, argc, argv);
  const microseconds late(options.delay_us), at_once(0);
  Table table(
      "gets that blocks wait for, by the proxy's FIFOs", "FIFOs",
      {"late: one (/ms)", "many (/ms)", "many/one", "one late: one (/ms)", "many (/ms) ",
       "many/one "},
      {std::to_string(options.blocks) +
           " blocks of one thread, each of which waits for its get of 8 bytes before the next",
       "late: all gets end " + std::to_string(options.delay_us) +
           " us after they were posted. one late: those of one block, to a peer of its own; "
           "all others at once",
       "with one FIFO and with so many, in turns; medians"});
  table.print_header();
  for (const unsigned fifos : {2u, 4u, 8u}) {
    std::vector<double> row = compare(options, fifos, late, late);
    const std::vector<double> one_late = compare(options, fifos, at_once, late);
    row.insert(row.end(), one_late.begin(), one_late.end());
    table.row(std::size_t{fifos}, row);
  }
  return table.write_json(options.json) ? 0 : 1;
}
