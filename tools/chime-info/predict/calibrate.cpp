#include "calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "host/transport/ofi/requests/message.hpp"

namespace chime::predict {
namespace {

// Between 8 and 128 bytes, the longest put that the proxy sends as a message.
constexpr std::size_t kMessage = 64;
constexpr double kMostMessageBytes = host::ofi::kMostPutBytes;
static_assert(kMessage <= host::ofi::kMostPutBytes);
// How long a core may move bytes while it still works at the call before: what it holds of
// instructions out of order is some hundreds. Less than half of a call is so.
constexpr double kMostOverlapUs = 0.001;
// Up to here the buffers on a link's way stay in their caches. As seen: over TCP between two
// processes, and between two emulated NICs, on processors whose second caches have 0.5 and 2 MiB.
constexpr double kLinkCache = 384 << 10;
// A byte takes at least so long: keeps a rate finite where a disturbed sample says less than none.
constexpr double kLeastUsPerByte = 1e-6;

struct ThreeSizes {
  std::size_t small, middle, large;
};

ThreeSizes sizes_of(const std::string& path) {
  constexpr std::size_t kSmall = 256;
  static_assert(kSmall > host::ofi::kMostPutBytes);
  if (path == "p2p") return {kSmall, 64 << 10, 4 << 20};
  return {kSmall, 128 << 10, std::size_t{path == "nic" ? 2u << 20 : 4u << 20}};
}

const Sample& sample_of(const std::vector<Sample>& samples, std::size_t bytes) {
  const auto found = std::find_if(samples.begin(), samples.end(),
                                  [bytes](const Sample& one) { return one.bytes == bytes; });
  if (found != samples.end()) return *found;
  throw std::runtime_error("there is no sample of " + std::to_string(bytes) + " bytes");
}

double rate(double bytes, double us) { return bytes / std::max(us, bytes * kLeastUsPerByte); }

// The times of one kind of transfer, by its size.
class Times {
 public:
  Times(const Samples& samples, double Sample::*time) : samples_(&samples), time_(time) {}
  double operator()(std::size_t bytes) const { return sample_of(samples_->samples, bytes).*time_; }

 private:
  const Samples* samples_;
  double Sample::*time_;
};

// A path of calls that cost `fixed_us`, copies of bytes, and a link. The link is such that the path
// meets all three times: the smaller two differ by bytes that stay in their caches, the third has
// bytes that do not.
void add_link(TransferPath& path, const ThreeSizes& sizes, const Times& us) {
  const auto sent_us = [&](std::size_t bytes) {  // without the copies
    double rest = us(bytes);
    for (const Stage& copy : path.stages) rest -= stage_us(copy, static_cast<double>(bytes));
    return rest;
  };
  const auto small = static_cast<double>(sizes.small), middle = static_cast<double>(sizes.middle),
             large = static_cast<double>(sizes.large);
  const double cached = rate(middle - small, sent_us(sizes.middle) - sent_us(sizes.small));
  path.fixed_us = std::max(0.0, sent_us(sizes.small) - small / cached);
  const double uncached = rate(large, sent_us(sizes.large) - path.fixed_us);
  path.stages.insert(path.stages.begin() + static_cast<std::ptrdiff_t>(path.stages.size() / 2),
                     {.name = "link", .levels = {{kLinkCache, cached}, {0, uncached}}});
}

// The proxy sends a short put as a message, which the peer's proxy answers.
void set_message_time(TransferPath& path, const Times& us) {
  path.short_us = us(kMessage) - time_us(path, kMessage);
  path.short_bytes = kMostMessageBytes;
}

void set_host_time(TransferPath& path, const ThreeSizes& sizes, const Times& us,
                   const Times& host_us) {
  const double small_us = host_us(sizes.small), more_us = host_us(sizes.large) - small_us;
  path.host_us = std::min(small_us, path.fixed_us);
  path.host_share = std::max(0.0, more_us / (us(sizes.large) - us(sizes.small)));
}

// A kernel's stores: a copy's rates, but in so far as stores were seen to differ from copies of the
// two larger sizes; between these two as much as the size's logarithm says.
TransferPath mapped_path(const Samples& samples) {
  const ThreeSizes sizes = sizes_of(samples.path);
  const Times us(samples, &Sample::put_us);
  Stage copy = copy_stage(samples.copies);
  const double fixed_us = us(sizes.small);
  const double overlap_us = std::min(fixed_us / 2, kMostOverlapUs), rest_us = fixed_us - overlap_us;
  const auto slower = [&](std::size_t bytes) {
    const double copy_us = stage_us(copy, static_cast<double>(bytes));
    return std::max(us(bytes) - rest_us, static_cast<double>(bytes) * kLeastUsPerByte) / copy_us;
  };
  const double at_middle = slower(sizes.middle), at_large = slower(sizes.large);
  const double from = std::log2(sizes.middle), to = std::log2(sizes.large);
  for (Level& level : copy.levels) {
    const double way = std::clamp((std::log2(level.bytes) - from) / (to - from), 0.0, 1.0);
    level.bytes_per_us /= std::lerp(at_middle, at_large, way);
  }
  copy.name = "stores";
  return {.name = "mapped", .fixed_us = fixed_us, .overlap_us = overlap_us, .stages = {copy}};
}

}  // namespace

std::vector<std::size_t> calibration_sizes(const std::string& path) {
  const ThreeSizes three = sizes_of(path);
  std::vector<std::size_t> all = {three.small, three.middle, three.large};
  if (path == "proxy") all.insert(all.begin(), kMessage);
  return all;
}

Stage copy_stage(const std::vector<Copy>& copies) {
  Stage stage{.name = "copy", .start_us = 0, .levels = {}, .kind = Levels::kPoints};
  for (const Copy& copy : copies) {
    const auto bytes = static_cast<double>(copy.bytes);
    stage.levels.push_back({bytes, rate(bytes, copy.us)});
  }
  return stage;
}

TransferPath direct_path(const Samples& samples) {
  if (samples.path == "p2p") return mapped_path(samples);
  const ThreeSizes sizes = sizes_of(samples.path);
  const Times us(samples, &Sample::put_us);
  TransferPath path{.name = samples.path == "nic" ? "direct" : samples.path};
  add_link(path, sizes, us);
  if (samples.path == "proxy") set_message_time(path, us);
  set_host_time(path, sizes, us, {samples, &Sample::put_host_us});
  return path;
}

TransferPath staged_path(const Samples& samples) {
  const ThreeSizes sizes = sizes_of(samples.path);
  const Times us(samples, &Sample::staged_us);
  const Stage copy = copy_stage(samples.copies);
  TransferPath path{.name = "staged", .stages = {copy, copy}};
  path.stages.front().name = "copy to host memory";
  path.stages.back().name = "copy to device memory";
  add_link(path, sizes, us);
  set_message_time(path, us);
  set_host_time(path, sizes, us, {samples, &Sample::staged_host_us});
  return path;
}

}  // namespace chime::predict
