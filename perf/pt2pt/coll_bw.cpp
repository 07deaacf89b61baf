// coll_bw: the bandwidth of collectives of all PEs, by their size.
#include <chime/chime.h>

#include <array>

#include "bus_bandwidth.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr std::size_t kMost = std::size_t{8} << 20;  // bytes of a member
constexpr int kIterations = 100;

CHIME_KERNEL void call(chime::Context ctx, Collective kind, float* dst, const float* src,
                       std::size_t n, int iterations, std::uint64_t* ns) {
  const chime::Thread g{};
  const chime_team_t team = CHIME_TEAM_WORLD;
  const std::size_t bytes = n * sizeof(float);
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) {
    if (kind == Collective::kReduce) chime::reduce<chime::Sum>(ctx, g, team, dst, src, n);
    if (kind == Collective::kReducescatter)
      chime::reducescatter<chime::Sum>(ctx, g, team, dst, src, n);
    if (kind == Collective::kScan) chime::inscan<chime::Sum>(ctx, g, team, dst, src, n);
    if (kind == Collective::kBroadcast) chime::broadcastmem(ctx, g, team, dst, src, bytes, 0);
    if (kind == Collective::kFcollect) chime::fcollectmem(ctx, g, team, dst, src, bytes);
    if (kind == Collective::kAlltoall) chime::alltoallmem(ctx, g, team, dst, src, bytes);
  }
  *ns = exec::clock_ns() - start;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = 4096;
  options.max_bytes = kMost / 8;
  parse(options, argc, argv, "Bandwidth of collectives of all PEs", true);
  if (options.max_bytes > kMost || options.min_bytes < 4) {
    std::fprintf(stderr, "coll_bw: sizes are from 4 to %zu\n", kMost);
    return 1;
  }
  chime_init();
  const int n_pes = chime_n_pes();
  const std::size_t all = static_cast<std::size_t>(n_pes) * options.max_bytes;
  auto* const dst = static_cast<float*>(chime_calloc(all, 1));
  auto* const src = static_cast<float*>(chime_calloc(all, 1));
  if (dst == nullptr || src == nullptr) {
    std::fprintf(stderr, "coll_bw: symmetric memory: %s\n", chimex_last_error());
    chime_global_exit(1);
  }
  Table table("bus bandwidth of collectives, " + std::to_string(n_pes) + " PEs", "size",
              {"reduce (GB/s)", "reduce in place", "reducescatter", "broadcast", "fcollect",
               "alltoall", "inscan"},
              {"what a PE must send at least, by the time of one call; best of " +
                   std::to_string(options.repeats) + " repeats",
               "size: bytes of a member, of float, or of each block; by one thread of a kernel"});
  const bool prints = chime_my_pe() == 0;
  sweep(table, options, prints, sizes_of(options, 4), [&](const Options& chosen, Size size) {
    struct Call {
      Collective kind;
      const float* src;
    };
    const std::array calls = {
        Call{Collective::kReduce, src},        Call{Collective::kReduce, dst},
        Call{Collective::kReducescatter, src}, Call{Collective::kBroadcast, src},
        Call{Collective::kFcollect, src},      Call{Collective::kAlltoall, src},
        Call{Collective::kScan, src}};
    std::array<Best, calls.size()> best;
    const int iterations = options.iterations(kIterations);
    for (int r = 0; r < chosen.repeats; ++r)
      for (std::size_t i = 0; i < calls.size(); ++i) {
        chime_barrier_all();
        best[i].take(kernel_us({}, call, chime::context(), calls[i].kind, dst, calls[i].src,
                               size.bytes / sizeof(float), iterations) /
                     iterations);
      }
    std::vector<double> row;
    for (std::size_t i = 0; i < calls.size(); ++i)
      row.push_back(bus_gigabytes(calls[i].kind, size.bytes, n_pes, best[i].value()));
    return row;
  });
  chime_free(src);
  chime_free(dst);
  const bool written = !prints || table.write_json(options.json);
  chime_finalize();
  return written ? 0 : 1;
}
