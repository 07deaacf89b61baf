// coll_lat: how long collectives of all PEs take, by their size, beside a barrier of the same team,
// and beside an alltoall that a program makes by hand of puts with signals.
#include <chime/chime.h>

#include <array>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr std::size_t kMost = std::size_t{1} << 20;  // bytes of a member
constexpr int kIterations = 2000;
constexpr int kFewer = 200;  // where PEs share cores, or data is long

enum Kind { kBarrier, kReduce, kBroadcast, kFcollect, kAlltoall, kByHand };

// Symmetric: n elements for each PE, a signal of each.
struct Arrays {
  float *dst, *src;
  std::uint64_t* signals;
};

// Each PE's block to it, with the number of the round; then the block of each other one.
CHIME_DEVICE void alltoall_by_hand(const chime::Context& ctx, const Arrays& arrays, std::size_t n,
                                   std::uint64_t round) {
  const chime::Thread g{};
  const int me = chime::my_pe(ctx), pes = chime::n_pes(ctx);
  const auto mine = static_cast<std::size_t>(me) * n;
  for (int i = 1; i < pes; ++i) {
    const int pe = (me + i) % pes;
    const float* const block = arrays.src + static_cast<std::size_t>(pe) * n;
    chime::put_signal(ctx, g, arrays.dst + mine, block, n, {arrays.signals + me, round}, pe);
  }
  memcpy(arrays.dst + mine, arrays.src + mine, n * sizeof(float));
  for (int i = 1; i < pes; ++i)
    chime::signal_wait_until(ctx, g, arrays.signals + (me + i) % pes, chime::Cmp::kGe, round);
}

// `round`: the last one that was made by hand.
CHIME_KERNEL void call(chime::Context ctx, int kind, Arrays arrays, std::size_t n, int iterations,
                       std::uint64_t round, std::uint64_t* ns) {
  float* const dst = arrays.dst;
  const float* const src = arrays.src;
  const chime::Thread g{};
  const chime_team_t team = CHIME_TEAM_WORLD;
  const std::size_t bytes = n * sizeof(float);
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) {
    if (kind == kBarrier) chime::team_barrier(ctx, g, team);
    if (kind == kReduce) chime::reduce<chime::Sum>(ctx, g, team, dst, src, n);
    if (kind == kBroadcast) chime::broadcastmem(ctx, g, team, dst, src, bytes, 0);
    if (kind == kFcollect) chime::fcollectmem(ctx, g, team, dst, src, bytes);
    if (kind == kAlltoall) chime::alltoallmem(ctx, g, team, dst, src, bytes);
    if (kind == kByHand) alltoall_by_hand(ctx, arrays, n, ++round);
  }
  *ns = exec::clock_ns() - start;
}

double kernel(Kind kind, const Arrays& arrays, std::size_t n, int iterations) {
  static std::uint64_t round = 0;
  const std::uint64_t last = round;
  if (kind == kByHand) round += static_cast<std::uint64_t>(iterations);
  chime_barrier_all();
  return kernel_us({}, call, chime::context(), static_cast<int>(kind), arrays, n, iterations,
                   last) /
         iterations;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = 8;
  options.max_bytes = kMost;
  parse(options, argc, argv, "Latency of collectives of all PEs", true);
  if (options.max_bytes > kMost || options.min_bytes < 4) {
    std::fprintf(stderr, "coll_lat: sizes are from 4 to %zu\n", kMost);
    return 1;
  }
  chime_init();
  const auto n_pes = static_cast<std::size_t>(chime_n_pes());
  const Arrays arrays = {static_cast<float*>(chime_calloc(n_pes * options.max_bytes, 1)),
                         static_cast<float*>(chime_calloc(n_pes * options.max_bytes, 1)),
                         static_cast<std::uint64_t*>(chime_calloc(n_pes, sizeof(std::uint64_t)))};
  Table table("collective latency, " + std::to_string(n_pes) + " PEs", "size",
              {"barrier (us)", "reduce (us)", "broadcast (us)", "fcollect (us)", "alltoall (us)",
               "by hand (us)", "Host reduce (us)"},
              {"one call, all PEs at once; best of " + std::to_string(options.repeats) + " repeats",
               "size: bytes of a member, of float; by one thread of a kernel, and of the host",
               "by hand: an alltoall of puts with signals"});
  const bool prints = chime_my_pe() == 0;
  sweep(table, options, prints, sizes_of(options, 8), [&](const Options& chosen, Size size) {
    std::array<Best, 7> best;
    const std::size_t n = size.bytes / sizeof(float);
    const int iterations =
        options.iterations(n_pes > 2 || size.bytes > 4096 ? kFewer : kIterations);
    for (int r = 0; r < chosen.repeats; ++r) {
      for (const Kind kind : {kBarrier, kReduce, kBroadcast, kFcollect, kAlltoall, kByHand})
        best[kind].take(kernel(kind, arrays, n, iterations));
      best[6].take(host_us(iterations, [&] {
        chime_float_sum_reduce(CHIME_TEAM_WORLD, arrays.dst, arrays.src, n);
      }));
    }
    std::vector<double> row;
    for (const Best& each : best) row.push_back(each.value());
    return row;
  });
  chime_free(arrays.signals);
  chime_free(arrays.src);
  chime_free(arrays.dst);
  const bool written = !prints || table.write_json(options.json);
  chime_finalize();
  return written ? 0 : 1;
}
