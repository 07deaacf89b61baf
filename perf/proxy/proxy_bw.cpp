// proxy_bw: how many bytes per second puts by the proxy move from PE 0 to PE 1, in windows with a
// quiet after each, beside fi_write on the same provider.
#include <chime/chime.h>

#include <algorithm>

#include "measure.hpp"
#include "median.hpp"
#include "options.hpp"
#include "pair.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr int kPeer = 1;
constexpr int kWindow = 16;
constexpr int kRepeats = 11;
constexpr std::size_t kBytesPerRepeat = 64 << 20;  // enough to time, little enough to repeat
constexpr int kMostWindows = 100;
constexpr std::size_t kStep = 4;  // from one size to the next

CHIME_KERNEL void put_windows(chime::Context ctx, std::byte* dst, const std::byte* src,
                              std::size_t bytes, int windows, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int w = 0; w < windows; ++w) {
    for (int i = 0; i < kWindow; ++i)
      chime::putmem_nbi(ctx, chime::Thread{}, dst, src, bytes, kPeer);
    chime::quiet(ctx);
  }
  *ns = exec::clock_ns() - start;
}

int windows_for(std::size_t bytes) {
  const std::size_t windows = kBytesPerRepeat / (bytes * kWindow);
  return static_cast<int>(std::clamp<std::size_t>(windows, 1, kMostWindows));
}

// 10^6 bytes per second, from the microseconds of a window.
double megabytes_per_s(std::size_t bytes, double window_us) {
  return static_cast<double>(bytes) * kWindow / window_us;
}

// Microseconds of a window, with the guarantee of quiet: writes that have ended are in PE 1's
// memory.
template <class Meanwhile>
double raw_us(FabricRival& raw, std::size_t bytes, int windows, Meanwhile meanwhile) {
  return host_us(windows, [&] {
    const std::uint64_t end = raw.ended() + kWindow;
    for (int i = 0; i < kWindow; ++i) raw.write(bytes, FabricRival::Ends::kDelivered);
    wait_giving_way("completion of libfabric's", [&] {
      meanwhile();
      return raw.ended() >= end;
    });
  });
}

struct Bench {
  FabricRival* raw;
  std::byte *dst, *src;
  AloneAtPe0& alone;

  double by_raw(std::size_t bytes, int windows, bool one_thread) const {
    if (raw == nullptr) return kNotMeasured;
    // With one thread, only PE 1's thread lets the provider work.
    const bool is_second = !one_thread || chime_my_pe() == 1;
    const auto second = is_second ? std::make_unique<FabricThread>(*raw) : nullptr;
    return alone([&] {
      return raw_us(*raw, bytes, windows, [&] {
        if (one_thread) raw->progress();
      });
    });
  }
  double by_kernel(std::size_t bytes, int windows) const {
    return alone([&] {
      return kernel_us({}, put_windows, chime::context(), dst, src, bytes, windows) / windows;
    });
  }
};

std::vector<double> measure(const Bench& bench, const Options& options, std::size_t bytes) {
  const int windows = options.iterations(windows_for(bytes));
  Best one, two, kernel;
  std::vector<double> ratios;
  for (int r = 0; r < options.repeats; ++r) {
    one.take(bench.by_raw(bytes, windows, true));
    const double raw = bench.by_raw(bytes, windows, false);
    const double ours = bench.by_kernel(bytes, windows);
    two.take(raw);
    kernel.take(ours);
    ratios.push_back(raw / ours);
  }
  const auto rate = [&](const Best& us) { return megabytes_per_s(bytes, us.value()); };
  return {rate(one), rate(two), rate(kernel), median(ratios)};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = 4 << 10;
  options.max_bytes = 1 << 20;
  options.repeats = kRepeats;
  parse(options, argc, argv, "Bandwidth of puts by the proxy, from PE 0 to PE 1", true);
  chime_init();
  need_pes(2, "proxy_bw");
  need_proxy_path("proxy_bw");
  auto* const dst = static_cast<std::byte*>(chime_malloc(options.max_bytes));
  auto* const src = static_cast<std::byte*>(chime_malloc(options.max_bytes));
  auto raw = connect_by_fabric(options.max_bytes);
  AloneAtPe0 alone;
  const Bench bench{raw.get(), dst, src, alone};
  Table table("put bandwidth by the proxy", "Size",
              {"raw, 1 thread (MB/s)", "raw, 2 threads", "Thread (MB/s)", "Thread/2 threads"},
              {"one way, windows of " + std::to_string(kWindow) +
                   " put_nbi + quiet, 10^6 bytes per second; best of " +
                   std::to_string(options.repeats) + " turns, and the median of their ratios",
               rival_note(), "Thread: a kernel of one thread"});
  const bool prints = chime_my_pe() == 0;
  sweep(table, options, prints, sizes_of(options, kStep),
        [&](const Options& chosen, Size size) { return measure(bench, chosen, size.bytes); });
  const bool written = !prints || table.write_json(options.json);
  chime_barrier_all();
  raw.reset();
  chime_finalize();
  return written ? 0 : 1;
}
