// simt_bench: what a thread, a barrier, a warp collective and a launch cost on the CPU device.
#include <chime/chime.h>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr unsigned kEmptyThreads = 256 * 1024;  // of one launch, all blocks together
constexpr int kRounds = 500;
constexpr int kGridRounds = 50;
constexpr unsigned kGridBlocks = 2;
constexpr int kLaunches = 50;

CHIME_KERNEL void do_nothing() {}

CHIME_KERNEL void sync_blocks(int rounds, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < rounds; ++i) exec::sync_block();
  if (exec::thread_rank() == 0) *ns = exec::clock_ns() - start;
}

CHIME_KERNEL void shuffle(int rounds, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  unsigned value = exec::lane_id();
  for (int i = 0; i < rounds; ++i) value += exec::shfl_xor(~0u, value, 1);
  if (exec::thread_rank() == 0) *ns = exec::clock_ns() - start + (value == 1);
}

CHIME_KERNEL void sync_grids(int rounds, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < rounds; ++i) exec::sync_grid();
  if (exec::grid_rank() == 0) *ns = exec::clock_ns() - start;
}

exec::LaunchConfig shape(unsigned blocks, unsigned threads) {
  exec::LaunchConfig config;
  config.grid = blocks;
  config.block = threads;
  return config;
}

void launch_and_wait(const exec::LaunchConfig& config) {
  if (exec::launch(config, do_nothing) != CHIMEX_OK || exec::stream_synchronize({}) != CHIMEX_OK) {
    std::fprintf(stderr, "a kernel could not run: %s\n", exec::last_error());
    std::exit(1);
  }
}

// One block: ns per thread of one round of `kernel`.
double ns_per_thread(void (*kernel)(int, std::uint64_t*), unsigned threads, int rounds) {
  return kernel_us(shape(1, threads), kernel, rounds) * 1000 / rounds / threads;
}

double grid_us(unsigned threads, int rounds) {
  exec::LaunchConfig config = shape(kGridBlocks, threads);
  config.cooperative = true;
  return kernel_us(config, sync_grids, rounds) / rounds;
}

std::vector<double> measure(const Options& options, unsigned threads) {
  const int rounds = options.iterations(kRounds);
  Best empty, barrier, shuffled, grid, launch;
  for (int r = 0; r < options.repeats; ++r) {
    empty.take(host_us(1, [&] { launch_and_wait(shape(kEmptyThreads / threads, threads)); }));
    barrier.take(ns_per_thread(sync_blocks, threads, rounds));
    shuffled.take(ns_per_thread(shuffle, threads, rounds));
    grid.take(grid_us(threads, options.iterations(kGridRounds)));
    launch.take(
        host_us(options.iterations(kLaunches), [&] { launch_and_wait(shape(1, threads)); }));
  }
  return {kEmptyThreads / empty.value(), barrier.value(), shuffled.value(), grid.value(),
          launch.value()};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Cost of threads, barriers and launches on the CPU device", false);
  if (!device_is_cpu()) {
    std::fprintf(stderr, "simt_bench measures the CPU device; this program runs on a GPU\n");
    return 2;
  }
  Table table("SIMT executor", "Threads",
              {"Empty (M thr/s)", "sync_block (ns)", "shfl (ns)", "sync_grid (us)", "Launch (us)"},
              {"by threads per block; best of " + std::to_string(options.repeats) + " repeats",
               "Empty: threads per second of a launch of " + std::to_string(kEmptyThreads) +
                   " threads that return at once",
               "sync_block, shfl: one block, per THREAD. sync_grid: " +
                   std::to_string(kGridBlocks) + " blocks, all of it",
               "Launch: one block launched and waited for"});
  const std::vector<std::size_t> rows = {1, 32, 64, 128, 256, 512, 1024};
  sweep(table, options, true, rows, [](const Options& chosen, std::size_t threads) {
    return measure(chosen, static_cast<unsigned>(threads));
  });
  return table.write_json(options.json) ? 0 : 1;
}
