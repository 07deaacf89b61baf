// proxy_lat: how long a word takes from a kernel on PE 0 by the proxy to a kernel on PE 1 that
// polls for it, beside fi_write on the same provider. Prints half of a round trip.
#include <chime/chime.h>

#include "measure.hpp"
#include "median.hpp"
#include "options.hpp"
#include "pair.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
using namespace chime::perf;

constexpr int kIterations = 200;
constexpr int kRepeats = 31;
constexpr int kHalves = 2;  // of a round trip
using Ends = FabricRival::Ends;

// `from`: the word's value so far; it counts on.
CHIME_KERNEL void ping_pong(chime::Context ctx, std::uint64_t* word, std::uint64_t from,
                            int iterations, std::uint64_t* ns) {
  const int peer = 1 - chime::my_pe(ctx);
  const std::uint64_t start = exec::clock_ns();
  for (std::uint64_t turn = from + 1; turn <= from + iterations; ++turn) {
    if (peer == 0) chime::wait_until(ctx, word, chime::Cmp::kGe, turn);
    chime::p(ctx, word, turn, peer);
    if (peer == 1) chime::wait_until(ctx, word, chime::Cmp::kGe, turn);
  }
  *ns = exec::clock_ns() - start;
}

class PingPong {
 public:
  PingPong(FabricRival* raw, std::uint64_t* word, int iterations)
      : raw_(raw), word_(word), iterations_(iterations) {}

  double by_two_threads(Ends ends, std::uint64_t* count) const {
    if (raw_ == nullptr) return kNotMeasured;
    chime_barrier_all();
    const FabricThread progress(*raw_);
    return by_raw(count, ends, [] {});
  }
  double by_one_thread(std::uint64_t* count) const {
    if (raw_ == nullptr) return kNotMeasured;
    chime_barrier_all();
    return by_raw(count, Ends::kSent, [this] { raw_->progress(); });
  }
  double by_kernel(std::uint64_t* count) const {
    chime_barrier_all();
    const double us = kernel_us({}, ping_pong, chime::context(), word_, *count, iterations_);
    *count += static_cast<std::uint64_t>(iterations_);
    return us / iterations_ / kHalves;
  }

 private:
  template <class Meanwhile>
  double by_raw(std::uint64_t* count, Ends ends, Meanwhile meanwhile) const {
    const bool first = chime_my_pe() == 0;
    return host_us(iterations_,
                   [&] {
                     const std::uint64_t turn = ++*count;
                     const auto came = [&] {
                       meanwhile();
                       return raw_->word() >= turn;
                     };
                     if (!first) wait_giving_way("word of libfabric's", came);
                     raw_->write_word(turn, ends);
                     if (first) wait_giving_way("word of libfabric's", came);
                   }) /
           kHalves;
  }

  FabricRival* raw_;
  std::uint64_t* word_;
  int iterations_;
};

struct Counts {
  std::uint64_t raw = 0, chime = 0;
};

std::vector<double> measure(const PingPong& run, const Options& options, Counts& counts) {
  Best one, two, delivered, kernel;
  std::vector<double> of_two, of_delivered;
  for (int r = 0; r < options.repeats; ++r) {
    one.take(run.by_one_thread(&counts.raw));
    const double sent = run.by_two_threads(Ends::kSent, &counts.raw);
    const double there = run.by_two_threads(Ends::kDelivered, &counts.raw);
    const double ours = run.by_kernel(&counts.chime);
    two.take(sent);
    delivered.take(there);
    kernel.take(ours);
    of_two.push_back(ours / sent);
    of_delivered.push_back(ours / there);
  }
  return {one.value(),    two.value(),    delivered.value(),
          kernel.value(), median(of_two), median(of_delivered)};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.repeats = kRepeats;
  parse(options, argc, argv, "Ping-pong of a word by the proxy", false);
  chime_init();
  need_pes(2, "proxy_lat");
  need_proxy_path("proxy_lat");
  auto* const word = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  auto raw = connect_by_fabric(sizeof(std::uint64_t));
  Table table("latency of a word by the proxy", "Size",
              {"raw, 1 thread (us)", "raw, 2 threads (us)", "delivered (us)", "Thread (us)",
               "Thread/2 threads", "Thread/delivered"},
              {"HALF of a round trip; best of " + std::to_string(options.repeats) +
                   " turns, and the median of their ratios",
               rival_note(),
               "delivered: raw by 2 threads with FI_DELIVERY_COMPLETE, which a put needs that a "
               "quiet may follow",
               "Thread: kernels of one thread, each beside its proxy"});
  const bool prints = chime_my_pe() == 0;
  Counts counts;
  sweep(table, options, prints, std::vector<Size>{{sizeof *word}},
        [&](const Options& chosen, Size) {
          const PingPong run(raw.get(), word, chosen.iterations(kIterations));
          return measure(run, chosen, counts);
        });
  const bool written = !prints || table.write_json(options.json);
  chime_barrier_all();
  raw.reset();
  chime_finalize();
  return written ? 0 : 1;
}
