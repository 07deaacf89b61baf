// proxy_paused: the time of a host's get from PE 1, and of its put with a quiet after it, by the
// proxy after a pause without requests, in which the proxies fall asleep, beside the same calls one
// after the other.
#include <chime/chime.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "measure.hpp"
#include "median.hpp"
#include "options.hpp"
#include "pair.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

using namespace chime::perf;
using Milliseconds = std::chrono::milliseconds;

constexpr int kPeer = 1;
constexpr int kCalls = 100;  // one after the other
constexpr int kRepeats = 31;
const std::vector<std::size_t> kPausesMs{1, 10, 100, 1700};

// Microseconds: the median of calls one after the other, and of one call after a pause.
struct Pair {
  double busy, paused;
};

template <class Call>
Pair measure(const Options& options, AloneAtPe0& alone, Milliseconds pause, Call call) {
  std::vector<double> busy, paused;
  for (int r = 0; r < options.repeats; ++r) {
    alone([&] {
      call();
      for (int i = 0; i < options.iterations(kCalls); ++i) busy.push_back(host_us(1, call));
      std::this_thread::sleep_for(pause);
      paused.push_back(host_us(1, call));
      return paused.back();
    });
  }
  if (busy.empty()) return {kNotMeasured, kNotMeasured};
  return {median(busy), median(paused)};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.repeats = kRepeats;
  parse(options, argc, argv, "Calls of a host by the proxy after a pause", false);
  chime_init();
  need_pes(2, "proxy_paused");
  need_proxy_path("proxy_paused");
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  AloneAtPe0 alone;
  Table table(
      "a host's calls of 8 bytes by the proxy after a pause", "Pause (ms)",
      {"get (us)", "paused (us)", "added (us)", "put+quiet (us)", "paused (us)", "added (us)"},
      {"medians of " + std::to_string(options.repeats) + " pauses, and of " +
       std::to_string(options.iterations(kCalls)) +
       " calls one after the other before each of them"});
  const bool prints = chime_my_pe() == 0;
  sweep(table, options, prints, kPausesMs, [&](const Options& chosen, std::size_t pause_ms) {
    const Milliseconds pause(pause_ms);
    const Pair get = measure(chosen, alone, pause, [&] { (void)chime_uint64_g(word, kPeer); });
    const Pair put = measure(chosen, alone, pause, [&] {
      chime_uint64_p(word, 1, kPeer);
      chime_quiet();
    });
    return std::vector<double>{get.busy, get.paused, get.paused - get.busy,
                               put.busy, put.paused, put.paused - put.busy};
  });
  const bool written = !prints || table.write_json(options.json);
  chime_barrier_all();
  chime_finalize();
  return written ? 0 : 1;
}
