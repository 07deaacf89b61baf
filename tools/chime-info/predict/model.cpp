#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace chime::predict {
namespace {

double on_the_wire(const Stage& stage, double bytes) {
  if (stage.packet_bytes <= 0) return bytes;
  return bytes + std::ceil(bytes / stage.packet_bytes) * stage.header_bytes;
}

double by_points_us(const Stage& stage, double bytes) {
  const std::vector<Level>& at = stage.levels;
  std::size_t i = 0;
  while (i < at.size() && at[i].bytes < bytes) ++i;
  if (i == 0) return bytes / at.front().bytes_per_us;
  if (i == at.size()) return bytes / at.back().bytes_per_us;
  const double way = std::log(bytes / at[i - 1].bytes) / std::log(at[i].bytes / at[i - 1].bytes);
  return bytes / std::lerp(at[i - 1].bytes_per_us, at[i].bytes_per_us, way);
}

double by_caches_us(const Stage& stage, double bytes) {
  std::size_t i = 0;
  while (i + 1 < stage.levels.size() && bytes >= 2 * stage.levels[i].bytes) ++i;
  const Level& level = stage.levels[i];
  const double hit_us = bytes / level.bytes_per_us;
  if (i + 1 == stage.levels.size() || bytes <= level.bytes) return hit_us;
  const double misses = bytes / level.bytes - 1;
  return (1 - misses) * hit_us + misses * bytes / stage.levels[i + 1].bytes_per_us;
}

double stages_us(const TransferPath& path, double bytes) {
  return std::accumulate(
      path.stages.begin(), path.stages.end(), 0.0,
      [bytes](double sum, const Stage& stage) { return sum + stage_us(stage, bytes); });
}

// The time of what no byte adds to.
double call_us(const TransferPath& path, double bytes) {
  return path.fixed_us + (bytes <= path.short_bytes ? path.short_us : 0);
}

// The time by stages one after another.
double in_turn_us(const TransferPath& path, double bytes) {
  const double moving = stages_us(path, bytes);
  return call_us(path, bytes) + moving - std::min(moving, path.overlap_us);
}

// The first chunk passes every stage; then the slowest stage sets the pace.
double pipelined_us(const TransferPath& path, double bytes) {
  const double chunks = std::ceil(bytes / path.chunk_bytes);
  double slowest = 0;
  for (const Stage& stage : path.stages)
    slowest = std::max(slowest, stage_us(stage, path.chunk_bytes));
  return in_turn_us(path, path.chunk_bytes) + (chunks - 1) * slowest;
}

bool is_faster(const TransferPath& a, const TransferPath& b, std::size_t bytes) {
  return time_us(a, bytes) < time_us(b, bytes);
}

// The smallest size in (low, high] with the order of `high`. REQUIRES: that of `low` differs.
std::size_t change_between(const TransferPath& a, const TransferPath& b, std::size_t low,
                           std::size_t high) {
  const bool wanted = is_faster(a, b, high);
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (is_faster(a, b, middle) == wanted ? high : low) = middle;
  }
  return high;
}

}  // namespace

double stage_us(const Stage& stage, double bytes) {
  const double all = on_the_wire(stage, bytes);
  return stage.start_us +
         (stage.kind == Levels::kPoints ? by_points_us(stage, all) : by_caches_us(stage, all));
}

double time_us(const TransferPath& path, std::size_t bytes) {
  const auto size = static_cast<double>(bytes);
  const bool is_cut = path.chunk_bytes > 0 && size > path.chunk_bytes;
  return is_cut ? pipelined_us(path, size) : in_turn_us(path, size);
}

double megabytes_per_s(const TransferPath& path, std::size_t bytes) {
  return static_cast<double>(bytes) / time_us(path, bytes);
}

double processor_share(const TransferPath& path, std::size_t bytes) {
  const double all = time_us(path, bytes), call = call_us(path, static_cast<double>(bytes));
  const double share_of_call = path.fixed_us > 0 ? path.host_us / path.fixed_us : 0;
  return (share_of_call * call + path.host_share * (all - call)) / all;
}

std::vector<Crossing> crossings(const TransferPath& a, const TransferPath& b, std::size_t least,
                                std::size_t most) {
  std::vector<Crossing> found;
  for (std::size_t low = least; low < most;) {
    const std::size_t high = low > most / 2 ? most : std::max(2 * low, low + 1);
    if (is_faster(a, b, low) != is_faster(a, b, high)) {
      const bool a_wins = is_faster(a, b, high);
      const TransferPath &winner = a_wins ? a : b, &loser = a_wins ? b : a;
      found.push_back({loser.name, winner.name, change_between(a, b, low, high),
                       time_us(loser, most) / time_us(winner, most)});
    }
    low = high;
  }
  return found;
}

}  // namespace chime::predict
