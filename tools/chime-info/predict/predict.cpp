#include "predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>
#include <stdexcept>

#include "calibrate.hpp"
#include "jobs.hpp"
#include "report.hpp"
#include "sizes.hpp"

namespace chime::predict {
namespace {

bool names_devices(const Options& options) {
  return !options.gpu.empty() || !options.nic.empty() || !options.links.empty();
}

Prediction from_stated_figures(const Options& options) {
  Chosen chosen;
  if (!options.gpu.empty()) chosen.gpu = options.gpu;
  if (!options.nic.empty()) chosen.nic = options.nic;
  std::istringstream links(options.links);
  for (std::string link; std::getline(links, link, ',');) chosen.links.push_back(link);
  if (!options.staging_chunk.empty())
    chosen.staging_chunk_bytes = static_cast<double>(size_of(options.staging_chunk));
  Prediction prediction;
  prediction.paths = paths_of(chosen);
  prediction.notes = {
      fmt::format("{}, {}: STATED figures, not measured (sources: chime-info --predict --devices)",
                  chosen.gpu, chosen.nic),
      options.staging_chunk.empty()
          ? "staged: its copies and the network follow one another"
          : "staged: pipelined in chunks of " + in_words(size_of(options.staging_chunk)),
      "without a kernel's launch and the synchronisation after it, which staged needs"};
  return prediction;
}

std::vector<std::size_t> sizes_to_measure(const std::string& path,
                                          const std::vector<std::size_t>& also) {
  std::set<std::size_t> all(also.begin(), also.end());
  for (const std::size_t bytes : calibration_sizes(path)) all.insert(bytes);
  return {all.begin(), all.end()};
}

void compare(Prediction& prediction, const TransferPath& path, const Samples& samples,
             double Sample::*measured) {
  const std::vector<std::size_t> calibrated = calibration_sizes(samples.path);
  for (const std::size_t bytes : prediction.sizes)
    for (const Sample& one : samples.samples)
      if (one.bytes == bytes)
        prediction.comparisons.push_back(
            {path.name, bytes, time_us(path, bytes), one.*measured,
             std::find(calibrated.begin(), calibrated.end(), bytes) != calibrated.end()});
}

// The measured paths in the order of the stated ones. A path that is not here is left out, and
// said.
Prediction from_measurements(const Options& options, const std::vector<std::size_t>& sizes) {
  Prediction prediction{
      .notes = {fmt::format("measured here on three sizes of each path (by the proxy on one of "
                            "messages, too), the quickest {:.0f} % of {} loops, CPU device",
                            100 * kMostQuiet, options.repeats)},
      .paths = {},
      .sizes = sizes,
      .comparisons = {}};
  const std::vector<std::size_t> also = options.checks ? sizes : std::vector<std::size_t>();
  for (const char* const name : {"p2p", "nic", "proxy"}) {
    try {
      const Samples samples = measure_path(name, sizes_to_measure(name, also), options.repeats);
      prediction.paths.push_back(direct_path(samples));
      if (options.checks) compare(prediction, prediction.paths.back(), samples, &Sample::put_us);
      if (samples.path != "proxy") continue;
      prediction.paths.push_back(staged_path(samples));
      if (options.checks) compare(prediction, prediction.paths.back(), samples, &Sample::staged_us);
    } catch (const std::runtime_error& error) {
      prediction.notes.push_back(fmt::format("no figures for path {}: {}", name, error.what()));
    }
  }
  if (prediction.paths.empty()) throw std::runtime_error(prediction.notes.back());
  prediction.notes.push_back("staged: both copies, and a host thread's put by the proxy's fabric");
  return prediction;
}

void print(const Prediction& prediction, const Options& options) {
  if (options.as_json) {
    fmt::print("{}\n", to_json(prediction).dump(2));
    return;
  }
  fmt::print("{}", table(prediction));
  for (const std::string& sentence : sentences(prediction)) fmt::print("# {}\n", sentence);
  if (!prediction.comparisons.empty())
    fmt::print("{}# largest error of the sizes that were not calibrated: {:.1f} %\n",
               comparison_table(prediction), 100 * worst_error(prediction.comparisons));
}

std::string conflict_of(const Options& options) {
  if (!names_devices(options) && !options.staging_chunk.empty())
    return "--staging-chunk goes with --gpu, --nic or --links: what is measured is not pipelined";
  if (names_devices(options) && options.checks)
    return "--check compares with what is measured here: leave --gpu, --nic and --links out";
  return "";
}

int predict(const Options& options) {
  const std::vector<std::size_t> sizes = sizes_in(options.size_range);
  if (const std::string conflict = conflict_of(options); !conflict.empty())
    throw std::invalid_argument(conflict);
  Prediction prediction =
      names_devices(options) ? from_stated_figures(options) : from_measurements(options, sizes);
  prediction.sizes = sizes;
  print(prediction, options);
  if (!options.plot.empty()) plot(prediction, options.plot);
  return worst_error(prediction.comparisons) > kAcceptedError ? 1 : 0;
}

}  // namespace

int run(const Options& options) {
  try {
    if (!options.lists) return predict(options);
    fmt::print("{}", describe_devices());
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "chime-info --predict: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chime-info --predict: %s\n", error.what());
    return 1;
  }
}

}  // namespace chime::predict
