// nic_issue_cost: what a call costs before the NIC has it, and what quiet costs when everything is
// complete, by the calling group. On the CPU device it counts instructions of device code, on a GPU
// clock cycles of the leader.
#include <chime/chime.h>

#include <map>

#include "instructions.hpp"
#include "measure.hpp"
#include "null_nic.hpp"
#include "options.hpp"
#include "pace.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
namespace abi = chime::abi;
using namespace chime::perf;

constexpr int kPeer = 1;
constexpr unsigned kWarpThreads = 32, kBlockThreads = 64;
constexpr std::size_t kLongPut = 1024;
constexpr int kRounds = 2;  // the first one is the queue's first use; the last one counts

enum class Call { kNothing, kPut8, kPut1024, kPutSignal, kAdd, kQuiet };

// CHIME_PERF_CYCLES: for a GPU (CMakeLists.txt).
#if CHIME_PERF_CYCLES
CHIME_DEVICE std::uint64_t start_meter() { return exec::clock(); }
CHIME_DEVICE std::uint64_t read_meter(std::uint64_t start) { return exec::clock() - start; }
#else
std::uint64_t start_meter() {
  start_counting();
  return 0;
}
std::uint64_t read_meter(std::uint64_t) { return stop_counting(); }
#endif

template <Call kCall, class Group>
CHIME_DEVICE void do_call(const chime::Context& ctx, NullNic& nic) {
  const Group group;
  auto* const word = reinterpret_cast<std::uint64_t*>(nic.target());
  if constexpr (kCall == Call::kPut8)
    chime::put_nbi(ctx, group, word, reinterpret_cast<std::uint64_t*>(nic.source()), 1, kPeer);
  if constexpr (kCall == Call::kPut1024)
    chime::putmem_nbi(ctx, group, nic.target(), nic.source(), kLongPut, kPeer);
  if constexpr (kCall == Call::kPutSignal)
    chime::putmem_signal_nbi(ctx, group, nic.target() + 8, nic.source(), kLongPut, {word, 1},
                             kPeer);
  if constexpr (kCall == Call::kAdd) chime::atomic_add(ctx, word, std::uint64_t{1}, kPeer);
  if constexpr (kCall == Call::kQuiet) chime::quiet(ctx);
}

// One block. The barriers keep the call between the two readings of the meter for every thread;
// Call::kNothing gives their own cost.
template <Call kCall, class Group>
CHIME_KERNEL void meter(chime::Context ctx, NullNic* nic, std::uint64_t* taken) {
  const bool is_first = exec::thread_rank() == 0;
  for (int round = 0; round < kRounds; ++round) {
    if (kCall == Call::kQuiet && is_first) {
      do_call<Call::kPut8, chime::Block>(ctx, *nic);
      complete_all(*nic);
    }
    std::uint64_t start = 0;
    if (is_first) start = start_meter();
    exec::sync_block();
    do_call<kCall, Group>(ctx, *nic);
    exec::sync_block();
    if (!is_first) continue;
    *taken = read_meter(start);
    if (kCall != Call::kNothing && kCall != Call::kQuiet) complete_all(*nic);
    chime::quiet(ctx);
  }
}

class Meter {
 public:
  Meter() {
    if (exec::device_malloc(reinterpret_cast<void**>(&nic_), sizeof(NullNic)) != CHIMEX_OK ||
        exec::device_malloc(reinterpret_cast<void**>(&taken_), sizeof *taken_) != CHIMEX_OK) {
      std::fprintf(stderr, "no memory on the device\n");
      std::exit(1);
    }
  }

  // The cost of one of the `calls` that `threads` threads make together.
  template <Call kCall, class Group>
  double of(unsigned threads, unsigned calls = 1) {
    if (!nothing_.contains(threads))
      nothing_[threads] = run(meter<Call::kNothing, chime::Thread>, threads);
    return (run(meter<kCall, Group>, threads) - nothing_[threads]) / calls;
  }

 private:
  using Kernel = void (*)(chime::Context, NullNic*, std::uint64_t*);
  double run(Kernel kernel, unsigned threads) {
    make_null_nic(nic_);
    exec::LaunchConfig config;
    config.block = threads;
    std::uint64_t taken = 0;
    if (exec::launch(config, kernel, context_of(nic_), nic_, taken_) != CHIMEX_OK ||
        exec::stream_synchronize({}) != CHIMEX_OK ||
        exec::copy(&taken, taken_, sizeof taken) != CHIMEX_OK) {
      std::fprintf(stderr, "a kernel could not run: %s\n", exec::last_error());
      std::exit(1);
    }
    return static_cast<double>(taken);
  }

  std::map<unsigned, double> nothing_;  // by threads: what the barriers cost
  NullNic* nic_ = nullptr;
  std::uint64_t* taken_ = nullptr;
};

// Rows one after the other. They take about the same time, so the first gives an estimate for all.
class Rows {
 public:
  Rows(const Options& options, std::size_t count) : pace_(options.program, true), count_(count) {}

  void begin(const std::string& what) {
    if (begun_ == 1) pace_.expect((now_us() - start_us_) / 1e6 * static_cast<double>(count_ - 1));
    pace_.begin_row(what, ++begun_, count_);
  }

 private:
  Pace pace_;
  const std::size_t count_;
  std::size_t begun_ = 0;
  const double start_us_ = now_us();
};

// `kHasGroups`: warps and blocks have the call, too.
template <Call kCall, bool kHasGroups>
void measure(Table& table, Rows& rows, Meter& meter, const char* name) {
  rows.begin(name);
  const double thread = meter.of<kCall, chime::Thread>(1);
  double lanes = kNotMeasured, warp = kNotMeasured, block = kNotMeasured;
  if (kCall != Call::kQuiet) lanes = meter.of<kCall, chime::Thread>(kWarpThreads, kWarpThreads);
  if constexpr (kHasGroups) {
    warp = meter.of<kCall, chime::Warp>(kWarpThreads);
    block = meter.of<kCall, chime::Block>(kBlockThreads);
  }
  table.row(name, {thread, lanes, warp, block});
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Cost of a call before the NIC has it", false);
  if (device_is_cpu() && !can_count_instructions()) {
    std::fprintf(stderr, "nic_issue_cost counts instructions on x86-64 alone\n");
    return 77;
  }
  const std::string unit = device_is_cpu() ? "instructions" : "cycles";
  Table table("cost of a call, in " + unit, "Call", {"Thread", "32 lanes, each", "Warp", "Block"},
              {"against a NIC that only completes, without waits",
               device_is_cpu() ? "device code in the program, of all threads; not the executor's "
                                 "barriers and collectives"
                               : "clock cycles of the first thread",
               "Warp: 32 threads call together. Block: " + std::to_string(kBlockThreads)});
  table.print_header();
  Meter meter;
  constexpr std::size_t kCalls = 5;
  Rows rows(options, options.quick ? 1 : kCalls);
  measure<Call::kPut8, true>(table, rows, meter, "put 8 B");
  if (options.quick) return table.write_json(options.json) ? 0 : 1;
  measure<Call::kPut1024, true>(table, rows, meter, "put 1 KiB");
  measure<Call::kPutSignal, true>(table, rows, meter, "put_signal 1 KiB");
  measure<Call::kAdd, false>(table, rows, meter, "atomic add");
  measure<Call::kQuiet, false>(table, rows, meter, "quiet, complete");
  return table.write_json(options.json) ? 0 : 1;
}
