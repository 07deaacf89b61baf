// team_lat: how long barriers of teams take, one and several at once, and how long a team is made.
//
// Several at once: four blocks, each in a lane, or in a team, of its own. Where a message takes
// long (SOFTNIC_FAULTS=delay:us=200, CHIME_NIC_SLOTS=4), they take as long as one if none waits
// for another. A barrier begins with a quiet, which would wait for the arrivals of other lanes if
// they counted as operations; syncs, which have no quiet, stand beside them.
#include <chime/chime.h>

#include <algorithm>
#include <array>

#include "measure.hpp"
#include "options.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr unsigned kAtOnce = 4;
constexpr unsigned kThreads =
    1;  // of a block: where PEs share cores, more say how these are shared
constexpr int kIterations = 2000;
constexpr int kFewer = 200;  // where PEs share cores
constexpr int kTeams = 1000;

using Teams = std::array<chime_team_t, kAtOnce>;

CHIME_KERNEL void meet_all(chime::Context ctx, int iterations, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) chime::barrier_all(ctx, chime::Thread{});
  if (exec::thread_rank() == 0) *ns = exec::clock_ns() - start;
}

// Each block in the team of its rank.
template <bool kCompletes>
CHIME_KERNEL void meet(chime::Context ctx, Teams teams, int iterations, std::uint64_t* ns) {
  const chime_team_t team = teams[exec::block_rank()];
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) {
    if constexpr (kCompletes) {
      chime::team_barrier(ctx, chime::Thread{}, team);
    } else {
      chime::team_sync(ctx, chime::Thread{}, team);
    }
  }
  exec::sync_grid();
  if (exec::grid_rank() == 0) *ns = exec::clock_ns() - start;
}

double all_us(int iterations) {
  exec::LaunchConfig config;
  config.block = kThreads;
  chime_barrier_all();
  return kernel_us(config, meet_all, chime::context(), iterations) / iterations;
}

template <bool kCompletes>
double teams_us(const Teams& teams, unsigned blocks, int iterations) {
  exec::LaunchConfig config;
  config.grid = blocks;
  config.block = kThreads;
  config.cooperative = true;
  chime_barrier_all();
  return kernel_us(config, meet<kCompletes>, chime::context(), teams, iterations) / iterations;
}

chime_team_t make() {
  chime_team_t team = CHIME_TEAM_INVALID;
  if (chime_team_split_strided(CHIME_TEAM_WORLD, 0, 1, chime_n_pes(), nullptr, 0, &team) != 0)
    chime_global_exit(1);
  return team;
}

// Microseconds of the making of one of `count` teams, which end again one by one; 0 of none.
double making_us(int count) {
  if (count == 0) return 0;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    chime_barrier_all();
    const double start = now_us();
    const chime_team_t team = make();
    sum += now_us() - start;
    chime_team_destroy(team);
  }
  return sum / count;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Latency of barriers of teams, and of making a team", false);
  chime_init();
  const int n_pes = chime_n_pes();
  const int iterations = options.iterations(n_pes > 2 ? kFewer : kIterations);
  const int teams = options.iterations(kTeams);
  Teams lanes{}, apart{};
  for (unsigned i = 0; i < kAtOnce; ++i) apart[i] = make();
  for (unsigned i = 0; i < kAtOnce; ++i) lanes[i] = chimex_team_lane(apart[0], static_cast<int>(i));
  Table table(
      "team latency", "PEs",
      {"all (us)", "team (us)", "4 lanes (us)", "4 teams (us)", "sync (us)", "4 lanes sync",
       "4 teams sync", "Host all (us)", "Host team (us)", "made (us)", "made last (us)"},
      {"one barrier, all PEs at once; best of " + std::to_string(options.repeats) + " repeats",
       "all: barrier_all by one thread. team: of a team of all PEs. 4 lanes, 4 teams: by four "
       "blocks of a thread at once. sync: team_sync",
       "made: chime_team_split_strided of all PEs, by the host; mean of the first tenth of " +
           std::to_string(teams) + ", and of the last"});
  const bool prints = chime_my_pe() == 0;
  const std::vector<std::size_t> rows = {static_cast<std::size_t>(n_pes)};
  sweep(table, options, prints, rows, [&](const Options& chosen, std::size_t) {
    std::array<Best, 11> best;
    for (int r = 0; r < chosen.repeats; ++r) {
      const int tenth = std::max(1, teams / 10);
      const std::array<double, 11> figures = {
          all_us(iterations),
          teams_us<true>(apart, 1, iterations),
          teams_us<true>(lanes, kAtOnce, iterations),
          teams_us<true>(apart, kAtOnce, iterations),
          teams_us<false>(apart, 1, iterations),
          teams_us<false>(lanes, kAtOnce, iterations),
          teams_us<false>(apart, kAtOnce, iterations),
          host_us(iterations, [] { chime_barrier_all(); }),
          host_us(iterations, [&] { chime_barrier(apart[0]); }),
          making_us(tenth),
          (making_us(std::max(0, teams - 2 * tenth)), making_us(tenth))};
      for (std::size_t i = 0; i < best.size(); ++i) best[i].take(figures[i]);
    }
    std::vector<double> row;
    for (const Best& each : best) row.push_back(each.value());
    return row;
  });
  for (const chime_team_t each : apart) chime_team_destroy(each);
  const bool written = !prints || table.write_json(options.json);
  chime_finalize();
  return written ? 0 : 1;
}
