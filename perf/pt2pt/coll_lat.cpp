// coll_lat: how long collectives of all PEs take, by their size, for each form of call; beside a
// barrier of the same team, and beside an alltoall that a program makes by hand of puts with
// signals.
#include <chime/chime.h>

#include <string>
#include <vector>

#include "alltoall_by_hand.cuh"
#include "collective_figures.hpp"
#include "collective_job.hpp"
#include "collective_options.hpp"
#include "collective_tables.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

using namespace chime::perf;

constexpr std::size_t kMost = std::size_t{1} << 20;  // bytes of a member

std::vector<std::string> columns_of(Form form) {
  std::vector<std::string> columns = {"barrier (us)"};
  for (const Collective kind : kWithData) columns.push_back(std::string(name_of(kind)) + " (us)");
  if (form == Form::kThread) {
    columns.emplace_back("by hand (us)");
    columns.emplace_back("Host reduce (us)");
  }
  return columns;
}

// All calls in one table. False if its JSON cannot be written.
bool print_table(CollectiveJob& job, const CollectiveOptions& options, bool prints,
                 const std::vector<Size>& sizes) {
  std::vector<std::string> notes = {
      "one call, all PEs at once; " + std::string(kLongestOfPes) + ", best of " +
          std::to_string(options.repeats) + " repeats",
      kOverlap, "size: bytes of a member, of float, or of each block; " + in_words(options.form)};
  if (options.form == Form::kThread)
    notes.emplace_back("by hand: an alltoall of puts with signals. Host: by the host");
  Table table("collective latency, " + std::to_string(job.n_pes()) + " PEs", "size",
              columns_of(options.form), notes);
  ByHand by_hand(job);
  sweep(table, options, prints, sizes, [&](const Options& chosen, Size size) {
    const auto longest = [&](Form form, Collective kind) {
      return job.measure(chosen, form, kind, size.bytes).us.longest;
    };
    std::vector<double> row = {longest(options.form, Collective::kBarrier)};
    for (const Collective kind : kWithData) row.push_back(longest(options.form, kind));
    if (options.form == Form::kThread) {
      row.push_back(by_hand.measure(chosen, size.bytes).us.longest);
      row.push_back(longest(Form::kHost, Collective::kReduce));
    }
    return row;
  });
  return !prints || table.write_json(options.json);
}

// A table of each call. False as above.
bool print_tables(CollectiveJob& job, const CollectiveOptions& options, bool prints,
                  const std::vector<Size>& sizes) {
  CollectiveFigures all(job.n_pes());
  if (options.format == "osu") {
    print_tables<OsuLatency>(job, options, prints, sizes, all);
  } else {
    print_tables<NcclTests>(job, options, prints, sizes, all);
  }
  return !prints || all.write_json(options.json,
                                   "collectives, " + std::to_string(job.n_pes()) + " PEs, " +
                                       in_words(options.form),
                                   {kLongestOfPes, kOverlap, kBusFactors});
}

}  // namespace

int main(int argc, char** argv) {
  CollectiveOptions options;
  options.min_bytes = 8;
  options.max_bytes = kMost;
  parse(options, argc, argv, "Latency of collectives of all PEs", kMost);
  chime_init();
  const bool prints = chime_my_pe() == 0;
  const std::vector<Size> sizes = sizes_of(options, 8);
  bool written = false;
  {
    CollectiveJob job(options.max_bytes);
    written = options.format == "chime" ? print_table(job, options, prints, sizes)
                                        : print_tables(job, options, prints, sizes);
  }
  chime_finalize();
  return written ? 0 : 1;
}
