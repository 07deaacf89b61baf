// barrier_lat: how long barrier_all and sync_all take when all PEs come at once.
#include <chime/chime.h>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr unsigned kBlockThreads = 64;
constexpr int kIterations = 5000;
constexpr int kFewer = 500;  // where PEs share cores

template <class Group>
CHIME_KERNEL void meet(chime::Context ctx, int iterations, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) chime::barrier_all(ctx, Group{});
  if (exec::thread_rank() == 0) *ns = exec::clock_ns() - start;
}

template <class Group>
double device_us(unsigned threads, int iterations) {
  exec::LaunchConfig config;
  config.block = threads;
  chime_barrier_all();
  return kernel_us(config, meet<Group>, chime::context(), iterations) / iterations;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Latency of barrier_all over all PEs", false);
  chime_init();
  const int n_pes = chime_n_pes();
  const int iterations = options.iterations(n_pes > 2 ? kFewer : kIterations);
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  Table table("barrier latency", "PEs",
              {"Host (us)", "Host sync (us)", "Thread (us)", "Block (us)", "cache line (us)"},
              {"one barrier_all (sync_all), all PEs at once; best of " +
                   std::to_string(options.repeats) + " repeats",
               "Host: one host thread per PE. Thread, Block: kernels of one thread, one block of " +
                   std::to_string(kBlockThreads) + " threads",
               "cache line: the floor of 2 PEs, HALF a round trip of 8 bytes without Chime"});
  std::uint64_t lines = 0;
  const bool prints = chime_my_pe() == 0;
  const std::vector<std::size_t> rows = {static_cast<std::size_t>(n_pes)};
  sweep(table, options, prints, rows, [&](const Options& chosen, std::size_t) {
    Best host, sync, thread, block, floor;
    for (int r = 0; r < chosen.repeats; ++r) {
      if (device_is_cpu()) {
        host.take(host_us(iterations, [] { chime_barrier_all(); }));
        sync.take(host_us(iterations, [] { chime_sync_all(); }));
        if (n_pes == 2) floor.take(cache_line_us(chosen, word, &lines));
      }
      thread.take(device_us<chime::Thread>(1, iterations));
      block.take(device_us<chime::Block>(kBlockThreads, iterations));
    }
    return std::vector{host.value(), sync.value(), thread.value(), block.value(), floor.value()};
  });
  const bool written = !prints || table.write_json(options.json);
  chime_finalize();
  return written ? 0 : 1;
}
