#include "calibrate.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "host/transport/ofi/requests/message.hpp"

namespace chime::predict {
namespace {

constexpr double kBuffersOfACopy = 2;
// The second cache is indexed by physical addresses: pages that lie anywhere share its sets
// unevenly, so buffers of its whole size miss it as often as larger ones. As seen: no misses up to
// half of it.
constexpr double kSureOfSecondCache = 0.5;
// The proxy sends a short put as a message, which the peer's proxy answers: by so much of a longer
// put's fixed cost it takes longer. As seen: over TCP between two processes, 0.2 to 0.3 by kernels
// and by the host.
constexpr double kMessageShare = 0.25;
constexpr double kMostMessageBytes = host::ofi::kMostPutBytes;
// How long a core may move bytes while it still works at the call before: what it holds of
// instructions out of order is some hundreds. Less than half of a call is so.
constexpr double kMostOverlapUs = 0.004;
// What is on its way before the receiving side's copy overlaps the sending side's. As seen: over
// TCP between two processes, and between two emulated NICs.
constexpr double kProxyWindow = 64 << 10, kNicWindow = 32 << 10;
// A byte takes at least so long: keeps a rate finite where a disturbed sample says less than none.
constexpr double kLeastUsPerByte = 1e-6;

const Sample& sample_of(const std::vector<Sample>& samples, std::size_t bytes) {
  const auto found = std::find_if(samples.begin(), samples.end(),
                                  [bytes](const Sample& one) { return one.bytes == bytes; });
  if (found != samples.end()) return *found;
  throw std::runtime_error("there is no sample of " + std::to_string(bytes) + " bytes");
}

double rate(double bytes, double us) { return bytes / std::max(us, bytes * kLeastUsPerByte); }

struct Point {
  double bytes, us;
};

// A fixed cost and rates, so that the path meets all three points. Within the window a byte takes
// twice as long as behind it, for two copies follow each other there. Beyond the middle point the
// buffers overflow the second cache. REQUIRES: the middle point is behind the window.
//
// `is_gradual`: so many buffers overflow it, and the caches behind it, that a byte takes longer and
// longer: half way to the last point, by powers, time has grown by half of its powers.
Stage link_stage(double window, const std::array<Point, 3>& at, bool is_gradual, double* fixed_us) {
  const double twice = window + at[1].bytes - 2 * at[0].bytes;  // the first window's bytes count so
  const double behind = rate(twice, at[1].us - at[0].us);
  *fixed_us = std::max(0.0, at[0].us - 2 * at[0].bytes / behind);
  Stage link{
      .name = "link", .start_us = 0, .levels = {{window, behind / 2}, {at[1].bytes, behind}}};
  Point last = at[1];
  if (is_gradual) {
    const Point between{std::sqrt(last.bytes * at[2].bytes), std::sqrt(last.us * at[2].us)};
    link.levels.push_back({between.bytes, rate(between.bytes - last.bytes, between.us - last.us)});
    last = between;
  }
  link.levels.push_back({0, rate(at[2].bytes - last.bytes, at[2].us - last.us)});
  return link;
}

double window_of(const std::string& path) { return path == "nic" ? kNicWindow : kProxyWindow; }

// A kernel's stores: the copy's rates, as far as the second cache in proportion to memory's.
TransferPath mapped_path(const Samples& samples, const Caches& caches) {
  const ThreeSizes sizes = calibration_sizes(samples.path);
  Stage copy = copy_stage(samples.samples, caches);
  const double fixed_us = sample_of(samples.samples, sizes.small).put_us;
  const double overlap_us = std::min(fixed_us / 2, kMostOverlapUs), rest_us = fixed_us - overlap_us;
  const auto measured = [&](std::size_t bytes) {
    return sample_of(samples.samples, bytes).put_us - rest_us;
  };
  const double slower = measured(sizes.middle) / stage_us(copy, static_cast<double>(sizes.middle));
  for (Level& level : copy.levels) level.bytes_per_us /= slower;
  copy.levels.back().bytes_per_us = rate(static_cast<double>(sizes.large), measured(sizes.large));
  copy.name = "stores";
  return {.name = "mapped", .fixed_us = fixed_us, .overlap_us = overlap_us, .stages = {copy}};
}

void set_message_time(TransferPath& path) {
  path.short_bytes = kMostMessageBytes;
  path.short_us = kMessageShare * path.fixed_us;
}

void set_host_time(TransferPath& path, const Point& small_host, const Point& large_host,
                   const Point& small, const Point& large) {
  path.host_us = std::min(small_host.us, path.fixed_us);
  path.host_share = std::max(0.0, (large_host.us - small_host.us) / (large.us - small.us));
}

}  // namespace

ThreeSizes calibration_sizes(const std::string& path) {
  constexpr std::size_t kSmall = 256;
  static_assert(kSmall > kMostMessageBytes);
  return {kSmall, std::size_t{path == "p2p" ? 64u << 10 : 1u << 20}, 4 << 20};
}

Caches caches_of_this_machine() {
  Caches caches;
  if (const long bytes = ::sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0)
    caches.first = static_cast<double>(bytes);
  if (const long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
    caches.second = static_cast<double>(bytes);
  return caches;
}

ThreeSizes memory_sizes(const Caches& caches) {
  return {static_cast<std::size_t>(caches.first / 8), static_cast<std::size_t>(caches.second / 8),
          4 << 20};
}

Stage copy_stage(const std::vector<Sample>& samples, const Caches& caches) {
  const ThreeSizes sizes = memory_sizes(caches);
  const auto rate_of = [&](std::size_t bytes) {
    return rate(static_cast<double>(bytes), sample_of(samples, bytes).copy_us);
  };
  return {.name = "copy",
          .start_us = 0,
          .levels = {{caches.first / kBuffersOfACopy, rate_of(sizes.small)},
                     {kSureOfSecondCache * caches.second / kBuffersOfACopy, rate_of(sizes.middle)},
                     {0, rate_of(sizes.large)}},
          .kind = Levels::kCache};
}

TransferPath direct_path(const Samples& samples, const Caches& caches) {
  if (samples.path == "p2p") return mapped_path(samples, caches);
  const ThreeSizes sizes = calibration_sizes(samples.path);
  const auto point = [&](std::size_t bytes) {
    return Point{static_cast<double>(bytes), sample_of(samples.samples, bytes).put_us};
  };
  const auto host = [&](std::size_t bytes) {
    return Point{static_cast<double>(bytes), sample_of(samples.samples, bytes).put_host_us};
  };
  TransferPath path{.name = samples.path == "nic" ? "direct" : samples.path};
  path.stages = {link_stage(window_of(samples.path),
                            {point(sizes.small), point(sizes.middle), point(sizes.large)}, false,
                            &path.fixed_us)};
  if (samples.path == "proxy") set_message_time(path);
  set_host_time(path, host(sizes.small), host(sizes.large), point(sizes.small), point(sizes.large));
  return path;
}

TransferPath staged_path(const Samples& samples, const Caches& caches) {
  const ThreeSizes sizes = calibration_sizes(samples.path);
  Stage out = copy_stage(samples.samples, caches), in = out;
  out.name = "copy to host memory";
  in.name = "copy to device memory";
  const auto whole = [&](std::size_t bytes) {
    return Point{static_cast<double>(bytes), sample_of(samples.samples, bytes).staged_us};
  };
  const auto sent = [&](std::size_t bytes) {  // without the copies
    return Point{static_cast<double>(bytes),
                 whole(bytes).us - 2 * stage_us(out, static_cast<double>(bytes))};
  };
  const auto host = [&](std::size_t bytes) {
    return Point{static_cast<double>(bytes), sample_of(samples.samples, bytes).staged_host_us};
  };
  TransferPath path{.name = "staged"};
  const Stage link =
      link_stage(window_of(samples.path),
                 {sent(sizes.small), sent(sizes.middle), sent(sizes.large)}, true, &path.fixed_us);
  set_message_time(path);
  path.stages = {out, link, in};
  set_host_time(path, host(sizes.small), host(sizes.large), whole(sizes.small), whole(sizes.large));
  return path;
}

}  // namespace chime::predict
