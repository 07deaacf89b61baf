// proxy_rate: how many puts of 8 bytes per second the proxy carries from PE 0 to PE 1, without and
// with a signal, by the puts between two quiets.
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
constexpr int kPuts = 1 << 12;  // of a turn
constexpr int kRepeats = 31;

// Symmetric memory.
struct Words {
  std::uint64_t *dst, *src, *signal;
};

template <bool kSignals>
CHIME_KERNEL void put_many(chime::Context ctx, Words words, int windows, int window,
                           std::uint64_t* ns) {
  constexpr chime::Thread kMe;
  const std::uint64_t start = exec::clock_ns();
  for (int w = 0; w < windows; ++w) {
    for (int i = 0; i < window; ++i) {
      if constexpr (kSignals)
        chime::putmem_signal_nbi(ctx, kMe, words.dst, words.src, sizeof *words.dst,
                                 {words.signal, static_cast<std::uint64_t>(i)}, kPeer);
      else
        chime::putmem_nbi(ctx, kMe, words.dst, words.src, sizeof *words.dst, kPeer);
    }
    chime::quiet(ctx);
  }
  *ns = exec::clock_ns() - start;
}

struct Bench {
  FabricRival* raw;
  Words words;
  AloneAtPe0& alone;

  // Microseconds of a put.
  double by_raw(int windows, int window) const {
    if (raw == nullptr) return kNotMeasured;
    const FabricThread second(*raw);
    return alone([&] {
             return host_us(windows, [&] {
               const std::uint64_t end = raw->ended() + static_cast<std::uint64_t>(window);
               for (int i = 0; i < window; ++i)
                 raw->write(sizeof(std::uint64_t), FabricRival::Ends::kDelivered);
               wait_giving_way("completion of libfabric's", [&] { return raw->ended() >= end; });
             });
           }) /
           window;
  }
  template <bool kSignals>
  double by_kernel(int windows, int window) const {
    return alone([&] {
             return kernel_us({}, put_many<kSignals>, chime::context(), words, windows, window);
           }) /
           windows / window;
  }
};

std::vector<double> measure(const Bench& bench, const Options& options, int window) {
  const int windows = std::max(1, options.iterations(kPuts) / window);
  Best raw, plain, signaled;
  std::vector<double> of_signals, of_raw;
  for (int r = 0; r < options.repeats; ++r) {
    const double theirs = bench.by_raw(windows, window);
    const double put = bench.by_kernel<false>(windows, window);
    const double put_signal = bench.by_kernel<true>(windows, window);
    raw.take(theirs);
    plain.take(put);
    signaled.take(put_signal);
    of_raw.push_back(theirs / put);
    of_signals.push_back(put / put_signal);
  }
  return {1 / raw.value(), 1 / plain.value(), 1 / signaled.value(), median(of_raw),
          median(of_signals)};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.repeats = kRepeats;
  parse(options, argc, argv, "Rate of small puts by the proxy, from PE 0 to PE 1", false);
  chime_init();
  need_pes(2, "proxy_rate");
  need_proxy_path("proxy_rate");
  const auto take = [](std::size_t words) {
    return static_cast<std::uint64_t*>(chime_calloc(words, sizeof(std::uint64_t)));
  };
  const Words words{take(1), take(1), take(1)};
  auto raw = connect_by_fabric(sizeof(std::uint64_t));
  AloneAtPe0 alone;
  const Bench bench{raw.get(), words, alone};
  Table table("put rate by the proxy", "Window",
              {"raw (M/s)", "put (M/s)", "put_signal (M/s)", "put/raw", "put_signal/put"},
              {"puts of 8 bytes by a kernel of one thread, a quiet behind each window of so many; "
               "best of " +
                   std::to_string(options.repeats) + " turns, and the median of their ratios",
               rival_note(), "put: put_nbi. put_signal: put_signal_nbi, whose signal is set"});
  const bool prints = chime_my_pe() == 0;
  sweep(table, options, prints, std::vector<std::size_t>{1, 16, 64, 256},
        [&](const Options& chosen, std::size_t window) {
          return measure(bench, chosen, static_cast<int>(window));
        });
  const bool written = !prints || table.write_json(options.json);
  chime_barrier_all();
  raw.reset();
  chime_finalize();
  return written ? 0 : 1;
}
