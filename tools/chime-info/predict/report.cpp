#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sizes.hpp"

namespace chime::predict {
namespace {

nlohmann::ordered_json to_json(const TransferPath& path) {
  nlohmann::ordered_json object{{"name", path.name},
                                {"fixed_us", path.fixed_us},
                                {"overlap_us", path.overlap_us},
                                {"short_us", path.short_us},
                                {"short_bytes", path.short_bytes},
                                {"chunk_bytes", path.chunk_bytes},
                                {"host_us", path.host_us},
                                {"host_share", path.host_share},
                                {"stages", nlohmann::ordered_json::array()}};
  for (const Stage& stage : path.stages) {
    nlohmann::ordered_json levels = nlohmann::ordered_json::array();
    for (const Level& level : stage.levels)
      levels.push_back({{"bytes", level.bytes}, {"bytes_per_us", level.bytes_per_us}});
    object["stages"].push_back({{"name", stage.name},
                                {"start_us", stage.start_us},
                                {"kind", stage.kind == Levels::kPoints ? "points" : "caches"},
                                {"levels", levels},
                                {"packet_bytes", stage.packet_bytes},
                                {"header_bytes", stage.header_bytes}});
  }
  return object;
}

nlohmann::ordered_json row(const Prediction& prediction, std::size_t bytes) {
  nlohmann::ordered_json object{{"bytes", bytes}};
  for (const TransferPath& path : prediction.paths)
    object[path.name] = {{"us", time_us(path, bytes)},
                         {"MB/s", megabytes_per_s(path, bytes)},
                         {"processor", processor_share(path, bytes)}};
  return object;
}

std::string always(const TransferPath& a, const TransferPath& b, const Prediction& prediction) {
  const bool a_wins = time_us(a, prediction.sizes.front()) < time_us(b, prediction.sizes.front());
  const TransferPath &winner = a_wins ? a : b, &loser = a_wins ? b : a;
  const auto gain = [&](std::size_t bytes) {
    return time_us(loser, bytes) / time_us(winner, bytes);
  };
  return fmt::format("{} beats {} at all sizes: {:.2f} times at {}, {:.2f} times at {}",
                     winner.name, loser.name, gain(prediction.sizes.front()),
                     in_words(prediction.sizes.front()), gain(prediction.sizes.back()),
                     in_words(prediction.sizes.back()));
}

template <class Visit>
void for_each_pair(const std::vector<TransferPath>& paths, Visit visit) {
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (std::size_t k = i + 1; k < paths.size(); ++k) visit(paths[i], paths[k]);
}

}  // namespace

std::string table(const Prediction& prediction) {
  std::string text;
  for (const std::string& note : prediction.notes) text += "# " + note + "\n";
  text +=
      "# us: until the caller knows that it has ended; MB/s: 10^6 bytes; cpu: host threads' time "
      "by the transfer's\n#         ";
  for (const TransferPath& path : prediction.paths)
    text += fmt::format(" {:>26}", path.name + " us    MB/s   cpu");
  text += "\n";
  for (const std::size_t bytes : prediction.sizes) {
    text += fmt::format("{:<10}", in_words(bytes));
    for (const TransferPath& path : prediction.paths)
      text += fmt::format(" {:>11.3f} {:>8.0f} {:>4.0f}%", time_us(path, bytes),
                          megabytes_per_s(path, bytes), 100 * processor_share(path, bytes));
    text += "\n";
  }
  return text;
}

std::vector<std::string> sentences(const Prediction& prediction) {
  std::vector<std::string> all;
  const std::size_t most = prediction.sizes.back();
  for_each_pair(prediction.paths, [&](const TransferPath& a, const TransferPath& b) {
    const auto found = crossings(a, b, prediction.sizes.front(), most);
    if (found.empty()) all.push_back(always(a, b, prediction));
    for (const Crossing& one : found)
      all.push_back(one.gain >= 1
                        ? fmt::format("from {} on {} beats {}, by {:.2f} times at {}",
                                      in_words(one.bytes), one.faster_from, one.slower_before,
                                      one.gain, in_words(most))
                        : fmt::format("from {} on {} beats {}, until they cross again",
                                      in_words(one.bytes), one.faster_from, one.slower_before));
  });
  return all;
}

std::string comparison_table(const Prediction& prediction) {
  std::string text =
      "# *: calibrated\n# path     size       predicted us   measured us     error\n";
  for (const Comparison& one : prediction.comparisons)
    text += fmt::format("{:<10} {:<10} {:>12.3f}  {:>12.3f}  {:>+6.1f} %{}\n", one.path,
                        in_words(one.bytes), one.predicted_us, one.measured_us, 100 * one.error(),
                        one.is_calibrated ? " *" : "");
  return text;
}

nlohmann::ordered_json to_json(const Prediction& prediction) {
  nlohmann::ordered_json object{{"notes", prediction.notes},
                                {"paths", nlohmann::ordered_json::array()},
                                {"rows", nlohmann::ordered_json::array()},
                                {"crossings", nlohmann::ordered_json::array()}};
  for (const TransferPath& path : prediction.paths) object["paths"].push_back(to_json(path));
  for (const std::size_t bytes : prediction.sizes) object["rows"].push_back(row(prediction, bytes));
  for_each_pair(prediction.paths, [&](const TransferPath& a, const TransferPath& b) {
    for (const Crossing& one : crossings(a, b, prediction.sizes.front(), prediction.sizes.back()))
      object["crossings"].push_back({{"bytes", one.bytes},
                                     {"faster", one.faster_from},
                                     {"slower", one.slower_before},
                                     {"times_at_the_largest_size", one.gain}});
  });
  if (prediction.comparisons.empty()) return object;
  object["check"] = nlohmann::ordered_json::array();
  for (const Comparison& one : prediction.comparisons)
    object["check"].push_back({{"path", one.path},
                               {"bytes", one.bytes},
                               {"predicted_us", one.predicted_us},
                               {"measured_us", one.measured_us},
                               {"error", one.error()},
                               {"calibrated", one.is_calibrated}});
  object["worst_error"] = worst_error(prediction.comparisons);
  return object;
}

double worst_error(const std::vector<Comparison>& comparisons) {
  double worst = 0;
  for (const Comparison& one : comparisons)
    if (!one.is_calibrated) worst = std::max(worst, std::abs(one.error()));
  return worst;
}

}  // namespace chime::predict
