// Timing on the host and in kernels, and the floors of the machine: the cost of memcpy, and of a
// cache line that moves between two PEs, without Chime.
#pragma once

#include <chime/chime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

#include "options.hpp"
#include "table.hpp"

namespace chime::perf {

inline double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// Microseconds of one of `iterations` calls of `call`, by the calling host thread.
template <class Call>
double host_us(int iterations, Call call) {
  const double start = now_us();
  for (int i = 0; i < iterations; ++i) call();
  return (now_us() - start) / iterations;
}

// Keeps the smallest of its figures; without one: kNotMeasured.
class Best {
 public:
  void take(double figure) { best_ = std::isnan(best_) ? figure : std::min(best_, figure); }
  double value() const { return best_; }

 private:
  double best_ = kNotMeasured;
};

// Launches a kernel that writes its nanoseconds to its last argument, and waits for it; returns us.
template <class... P, class... A>
double kernel_us(const exec::LaunchConfig& config, void (*kernel)(P...), A... arguments) {
  static std::uint64_t* const ns = [] {
    void* memory = nullptr;
    if (exec::device_malloc(&memory, sizeof(std::uint64_t)) != CHIMEX_OK) std::abort();
    return static_cast<std::uint64_t*>(memory);
  }();
  std::uint64_t taken = 0;
  if (exec::launch(config, kernel, arguments..., ns) != CHIMEX_OK ||
      exec::stream_synchronize(config.stream) != CHIMEX_OK ||
      exec::copy(&taken, ns, sizeof(taken)) != CHIMEX_OK) {
    std::fprintf(stderr, "a kernel could not run\n");
    chime_global_exit(1);
  }
  return static_cast<double>(taken) / 1000;
}

// Whether host code can access the symmetric heap, so that it can be measured.
inline bool device_is_cpu() {
  exec::DeviceProps props;
  return exec::device_props(0, &props) == CHIMEX_OK && props.is_cpu;
}

// Ends the program with a message unless the job has `n` PEs.
inline void need_pes(int n, const char* program) {
  if (chime_n_pes() == n) return;
  if (chime_my_pe() == 0) {
    std::fprintf(stderr, "%s measures between %d PEs, not %d: chime-run -n %d %s\n", program, n,
                 chime_n_pes(), n, program);
  }
  chime_finalize();
  std::exit(2);
}

// The end of a benchmark in which only PE 0 works: the other PEs return when PE 0 calls this. They
// sleep, because a PE that spins takes a core from an emulated NIC; an abort of the job wakes them.
// `word` is symmetric, 0.
inline void end_together(std::uint64_t* word) {
  if (chime_my_pe() == 0) {
    for (int pe = 1; pe < chime_n_pes(); ++pe) chime_uint64_p(word, 1, pe);
    chime_quiet();
  }
  while (chime_my_pe() != 0 && chime_signal_fetch(word) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// memcpy to mapped memory that the compiler may not shorten.
inline void copy_bytes(void* dst, const void* src, std::size_t bytes) {
  std::memcpy(dst, src, bytes);
  __asm__ volatile("" ::: "memory");
}

// Half a round trip of one cache line between PE 0 and PE 1, in us: stores and loads of the two
// host threads to each other's memory, without Chime; not measured if it is not mapped. Called by
// both PEs. `word` is symmetric and counts on from `*count`.
inline double cache_line_us(const Options& options, std::uint64_t* word, std::uint64_t* count) {
  // Few: it never yields, and a busy machine makes it wait.
  const int iterations = options.iterations(1000);
  const int me = chime_my_pe();
  auto* const there = static_cast<std::uint64_t*>(chime_ptr(word, 1 - me));
  if (there == nullptr) return kNotMeasured;
  const std::atomic_ref<std::uint64_t> mine(*word), theirs(*there);
  const auto wait = [&](std::uint64_t value) {
    while (mine.load(std::memory_order_acquire) < value) {
    }
  };
  chime_barrier_all();
  const double start = now_us();
  for (int i = 0; i < iterations; ++i) {
    const std::uint64_t value = ++*count;
    if (me == 1) wait(value);
    theirs.store(value, std::memory_order_release);
    if (me == 0) wait(value);
  }
  return (now_us() - start) / iterations / 2;
}

}  // namespace chime::perf
