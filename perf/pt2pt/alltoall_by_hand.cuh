// The alltoall that a program makes by hand, of puts with signals.
#pragma once

#include <chime/chime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collective_job.hpp"
#include "measure.hpp"

namespace chime::perf {

// Each PE's block to it, with the number of the round; then the block of each other one.
CHIME_DEVICE void alltoall_by_hand(const Context& ctx, float* dst, const float* src, std::size_t n,
                                   std::uint64_t* signals, std::uint64_t round) {
  const Thread g{};
  const int me = my_pe(ctx), pes = n_pes(ctx);
  const auto mine = static_cast<std::size_t>(me) * n;
  for (int i = 1; i < pes; ++i) {
    const int pe = (me + i) % pes;
    const float* const block = src + static_cast<std::size_t>(pe) * n;
    put_signal(ctx, g, dst + mine, block, n, {signals + me, round}, pe);
  }
  memcpy(dst + mine, src + mine, n * sizeof(float));
  for (int i = 1; i < pes; ++i)
    signal_wait_until(ctx, g, signals + (me + i) % pes, Cmp::kGe, round);
}

// `round`: the last one before.
CHIME_KERNEL void alltoalls_by_hand(Context ctx, float* dst, const float* src, std::size_t n,
                                    std::uint64_t* signals, std::uint64_t round, int iterations,
                                    std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) alltoall_by_hand(ctx, dst, src, n, signals, ++round);
  *ns = exec::clock_ns() - start;
}

// Made, used and ended by all PEs at once.
class ByHand {
 public:
  explicit ByHand(CollectiveJob& job)
      : job_(job),
        signals_(static_cast<std::uint64_t*>(
            chime_calloc(static_cast<std::size_t>(job.n_pes()), sizeof(std::uint64_t)))) {}
  ~ByHand() { chime_free(signals_); }
  ByHand(const ByHand&) = delete;

  Figure measure(const Options& options, std::size_t bytes) {
    const int iterations = options.iterations(job_.iterations_of(bytes));
    return job_.best(options, iterations, [&] {
      chime_barrier_all();
      const std::uint64_t before = round_;
      round_ += static_cast<std::uint64_t>(iterations);
      return kernel_us({}, alltoalls_by_hand, context(), job_.dst(), job_.src(),
                       bytes / sizeof(float), signals_, before, iterations) /
             iterations;
    });
  }

 private:
  CollectiveJob& job_;
  std::uint64_t* const signals_;  // of each PE
  std::uint64_t round_ = 0;
};

}  // namespace chime::perf
