#include "measure.hpp"

#include <chime/chime.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <span>
#include <thread>

#include "tools/chime-info/path_name.hpp"

namespace chime::predict {
namespace {

constexpr int kPeer = 1;
constexpr double kLoopUs = 500;  // short enough for some loops to have their core to themselves
constexpr std::size_t kLeastCopy = 4 << 10;
constexpr std::size_t kLarge = 1 << 20;
constexpr int kMostIterations = 20'000;
// A loop of n iterations begins with n / kWarmUp that are not timed: they wake threads that slept.
constexpr int kWarmUp = 4;

double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

double own_processor_us() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e6 + static_cast<double>(used.tv_nsec) / 1e3;
}

std::string first_word(const std::filesystem::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

// The file that has the processor time of this process's proxy; empty if there is no proxy.
std::filesystem::path find_proxy_clock() {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
    if (first_word(thread.path() / "comm") == "chime-proxy") return thread.path() / "schedstat";
  return {};
}

double proxy_us(const std::filesystem::path& clock) {
  const std::string ns = clock.empty() ? "" : first_word(clock);
  return ns.empty() ? 0 : std::stod(ns) / 1e3;
}

CHIME_KERNEL void tell_path(chime::Context ctx, Path* path) {
  *path = chime::route_to(ctx, chime::Traffic::kData, 1 - chime::my_pe(ctx)).path;
}

CHIME_KERNEL void put_and_quiet(chime::Context ctx, std::byte* dst, const std::byte* src,
                                std::size_t bytes, int iterations, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) {
    chime::putmem(ctx, chime::Thread{}, dst, src, bytes, kPeer);
    chime::quiet(ctx);
  }
  *ns = exec::clock_ns() - start;
}

template <class... P, class... A>
void run(void (*kernel)(P...), A... arguments) {
  if (exec::launch({}, kernel, arguments...) == CHIMEX_OK &&
      exec::stream_synchronize(nullptr) == CHIMEX_OK)
    return;
  std::fprintf(stderr, "chime-info: the kernel that measures could not run: %s\n",
               exec::last_error());
  chime_global_exit(1);
}

void copy_bytes(void* dst, const void* src, std::size_t bytes) {
  std::memcpy(dst, src, bytes);
  __asm__ volatile("" ::: "memory");
}

// Symmetric memory for messages of `most` bytes, and the host's buffers beside it.
struct Bench {
  explicit Bench(std::size_t most)
      : dst(static_cast<std::byte*>(chime_malloc(most))),
        src(static_cast<std::byte*>(chime_malloc(most))),
        stage(static_cast<std::byte*>(chime_malloc(most))),
        landed(static_cast<std::byte*>(chime_malloc(most))),
        proxy_clock(find_proxy_clock()) {}

  // Microseconds of one put and quiet of a kernel of one thread, and the proxy's of them.
  std::pair<double, double> put(std::size_t bytes, int iterations) const {
    std::uint64_t ns = 0;
    run(put_and_quiet, chime::context(), dst, static_cast<const std::byte*>(src), bytes,
        iterations / kWarmUp + 1, &ns);
    const double proxy_before = proxy_us(proxy_clock);
    run(put_and_quiet, chime::context(), dst, static_cast<const std::byte*>(src), bytes, iterations,
        &ns);
    return {static_cast<double>(ns) / 1e3 / iterations,
            (proxy_us(proxy_clock) - proxy_before) / iterations};
  }

  // The same by way of host memory. Both copies are this PE's: they follow one another wherever
  // they run, and so no wake-up of PE 1 is measured, as in put().
  std::pair<double, double> staged(std::size_t bytes, int iterations) const {
    stage_and_put(bytes, iterations / kWarmUp + 1);
    const double before = now_us(), used_before = own_processor_us() + proxy_us(proxy_clock);
    stage_and_put(bytes, iterations);
    const double us = now_us() - before;
    const double used = own_processor_us() + proxy_us(proxy_clock) - used_before;
    return {us / iterations, used / iterations};
  }

  void stage_and_put(std::size_t bytes, int iterations) const {
    for (int i = 0; i < iterations; ++i) {
      copy_bytes(stage, src, bytes);
      chime_putmem(dst, stage, bytes, kPeer);
      chime_quiet();
      copy_bytes(landed, stage, bytes);
    }
  }

  double copy(std::size_t bytes, int iterations) const {
    const double before = now_us();
    for (int i = 0; i < iterations; ++i) copy_bytes(landed, stage, bytes);
    return (now_us() - before) / iterations;
  }

  std::byte *dst, *src, *stage, *landed;
  std::filesystem::path proxy_clock;
};

int iterations_for(double us) {
  return static_cast<int>(std::clamp(kLoopUs / std::max(us, 1e-3), 2.0, double{kMostIterations}));
}

Sample once(const Bench& bench, std::size_t bytes, const Sample& expected) {
  Sample sample{.bytes = bytes};
  std::tie(sample.put_us, sample.put_host_us) = bench.put(bytes, iterations_for(expected.put_us));
  std::tie(sample.staged_us, sample.staged_host_us) =
      bench.staged(bytes, iterations_for(expected.staged_us));
  return sample;
}

template <class Loop>
const Loop& quiet_one(std::vector<Loop>& loops, double Loop::*time) {
  const double quicker = kMostQuiet * static_cast<double>(loops.size() - 1);
  const auto at = loops.begin() + static_cast<std::ptrdiff_t>(quicker);
  std::nth_element(loops.begin(), at, loops.end(),
                   [time](const Loop& a, const Loop& b) { return a.*time < b.*time; });
  return *at;
}

// Processor time belongs to the loop whose time is taken.
Sample typical_of(std::vector<Sample> loops) {
  Sample typical = quiet_one(loops, &Sample::put_us);
  const Sample staged = quiet_one(loops, &Sample::staged_us);
  typical.staged_us = staged.staged_us;
  typical.staged_host_us = staged.staged_host_us;
  return typical;
}

// About how long one of `bytes` takes: sets the lengths of loops. The clock may count in
// microseconds, so the first figure, of two iterations, may be anything down to 0.
Sample expected(const Bench& bench, std::size_t bytes) {
  constexpr double kUnknown = kLoopUs / 2;
  const Sample first = once(bench, bytes, Sample{.put_us = kUnknown, .staged_us = kUnknown});
  const auto at_least = [](double us) { return std::max(us, 0.5); };
  return once(bench, bytes,
              Sample{.put_us = at_least(first.put_us), .staged_us = at_least(first.staged_us)});
}

// Sizes take turns within each repeat, so that other work on the machine disturbs all alike;
// upwards and downwards, for threads are as the size before left them: puts of 8 to 128 bytes right
// after those of 4 MiB were seen to take a quarter longer than those of 256.
std::vector<Sample> measure_in_turns(const Bench& bench, std::span<const std::size_t> sizes,
                                     int repeats) {
  std::vector<Sample> lengths, typical;
  for (const std::size_t bytes : sizes) lengths.push_back(expected(bench, bytes));
  std::vector<std::vector<Sample>> loops(sizes.size());
  for (int r = 0; r < repeats; ++r)
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const std::size_t i = r % 2 == 0 ? k : sizes.size() - 1 - k;
      loops[i].push_back(once(bench, sizes[i], lengths[i]));
    }
  for (std::vector<Sample>& of_size : loops) typical.push_back(typical_of(std::move(of_size)));
  return typical;
}

// REQUIRES: `sizes` grow. The large ones come after all others: a thread that has waited for a
// processor beside copies of megabytes naps in its waits, for up to a second
// (chime/device/simt/threads/crowding.hpp).
std::vector<Sample> measure(const Bench& bench, std::span<const std::size_t> sizes, int repeats) {
  const auto first_large = std::lower_bound(sizes.begin(), sizes.end(), kLarge);
  const auto n_small = static_cast<std::size_t>(first_large - sizes.begin());
  std::vector<Sample> all = measure_in_turns(bench, sizes.first(n_small), repeats);
  const std::vector<Sample> large = measure_in_turns(bench, sizes.subspan(n_small), repeats);
  all.insert(all.end(), large.begin(), large.end());
  return all;
}

std::vector<Copy> measure_copies(const Bench& bench, std::size_t most, int repeats) {
  std::vector<Copy> typical;
  for (std::size_t bytes = kLeastCopy; bytes <= most; bytes *= 2) {
    const double expected_us = bench.copy(bytes, iterations_for(kLoopUs / 2));
    std::vector<Copy> loops;
    for (int r = 0; r < repeats; ++r)
      loops.push_back({bytes, bench.copy(bytes, iterations_for(expected_us))});
    typical.push_back(quiet_one(loops, &Copy::us));
  }
  return typical;
}

// PE 1 sleeps meanwhile, for a PE that spins takes a core from a NIC that is emulated.
void wait_for_end(std::uint64_t* word) {
  if (chime_my_pe() == 0) {
    chime_uint64_p(word, 1, kPeer);
    chime_quiet();
  }
  while (chime_my_pe() != 0 && chime_signal_fetch(word) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool runs_on_the_cpu() {
  exec::DeviceProps props;
  return exec::device_props(0, &props) == CHIMEX_OK && props.is_cpu;
}

// Empty if the job can be measured.
std::string why_not() {
  if (chime_n_pes() != 2)
    return "it takes 2 PEs to measure a path, and this job has " + std::to_string(chime_n_pes());
  if (!runs_on_the_cpu())
    return "its kernels are the CPU device's: unset CHIME_DEVICE, or name the devices (--gpu, "
           "--nic, --links) to predict from stated figures";
  return "";
}

}  // namespace

int measure_and_print(const std::vector<std::size_t>& sizes, int repeats) {
  chime_init();
  if (chimex_init_status() < CHIME_STATUS_IS_INITIALIZED) return 1;
  if (const std::string reason = why_not(); !reason.empty()) {
    if (chime_my_pe() == 0) std::fprintf(stderr, "chime-info --predict: %s\n", reason.c_str());
    chime_finalize();
    return 2;
  }
  Path path = Path::kNone;
  run(tell_path, chime::context(), &path);
  const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
  const Bench bench(most);  // collective
  auto* const end = static_cast<std::uint64_t*>(chime_calloc(1, sizeof(std::uint64_t)));
  if (path != Path::kNone && chime_my_pe() == 0)
    write_samples(std::cout, {info::path_name(path), measure(bench, sizes, repeats),
                              measure_copies(bench, most, repeats)});
  if (path == Path::kNone && chime_my_pe() == 0)
    write_samples(std::cout, {info::path_name(path), {}, {}});
  if (path != Path::kNone) wait_for_end(end);
  chime_finalize();
  return 0;
}

}  // namespace chime::predict
