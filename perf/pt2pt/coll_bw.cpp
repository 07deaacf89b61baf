// coll_bw: the bandwidth of collectives of all PEs, by their size, for each form of call.
#include <chime/chime.h>

#include <string>
#include <vector>

#include "collective_figures.hpp"
#include "collective_job.hpp"
#include "collective_options.hpp"
#include "collective_tables.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

using namespace chime::perf;

constexpr std::size_t kMost = std::size_t{8} << 20;  // bytes of a member

struct Texts {
  std::string title;
  std::vector<std::string> notes;
};

// "reduce (GB/s)", "reduce in place", ...
std::vector<std::string> columns_of(const std::string& what) {
  std::vector<std::string> columns;
  for (const Measured& call : all_measured()) columns.push_back(call.name() + what);
  columns.front() += " (GB/s)";
  return columns;
}

// Bus bandwidth as it is measured, and behind it algorithm bandwidth.
void print_bandwidths(CollectiveJob& job, const CollectiveOptions& options, bool prints,
                      const std::vector<Size>& sizes, const Texts& texts, CollectiveFigures& all) {
  Table bus("bus bandwidth of " + texts.title, "size", columns_of(""), texts.notes);
  sweep(bus, options, prints, sizes, [&](const Options& chosen, Size size) {
    std::vector<double> row;
    for (const Measured& call : all_measured()) {
      const Figure figure =
          job.measure(chosen, options.form, call.kind, size.bytes, call.is_in_place);
      all.keep(size, call, figure.us.longest);
      row.push_back(all.bus_gigabytes(size, call));
    }
    return row;
  });
  if (!prints) return;
  Table alg("algorithm bandwidth of " + texts.title, "size", columns_of(" algbw"), {});
  alg.print_header();
  for (const Size size : sizes) {
    std::vector<double> row;
    for (const Measured& call : all_measured()) row.push_back(all.alg_gigabytes(size, call));
    alg.row(size, row);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CollectiveOptions options;
  options.min_bytes = 4096;
  options.max_bytes = kMost / 8;
  parse(options, argc, argv, "Bandwidth of collectives of all PEs", kMost);
  chime_init();
  const int n_pes = chime_n_pes();
  const bool prints = chime_my_pe() == 0;
  const std::vector<Size> sizes = sizes_of(options, 4);
  const Texts texts = {
      "collectives, " + std::to_string(n_pes) + " PEs, " + in_words(options.form),
      {std::string(kLongestOfPes) + ", best of " + std::to_string(options.repeats) + " repeats",
       kOverlap, "algbw: bytes of a member's larger array, by the time of a call", kBusFactors,
       "size: bytes of a member, of float, or of each block"}};
  CollectiveFigures all(n_pes);
  {
    CollectiveJob job(options.max_bytes);
    if (options.format == "osu") {
      print_tables<OsuBandwidth>(job, options, prints, sizes, all);
    } else if (options.format == "nccl") {
      print_tables<NcclTests>(job, options, prints, sizes, all);
    } else {
      print_bandwidths(job, options, prints, sizes, texts, all);
    }
  }
  const bool written =
      !prints || all.write_json(options.json, "bandwidth of " + texts.title, texts.notes);
  chime_finalize();
  return written ? 0 : 1;
}
